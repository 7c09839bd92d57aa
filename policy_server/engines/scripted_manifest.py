"""A minimal manifest for any cameras, to go with the scripted graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from contract.architecture import Canvas, Head, Text, Video, View
from contract.layout import SIZE
from contract.manifest import Action, ActionKind, BundleManifest, Guidance, Provenance, Statistics, TrCalibration
from contract.server_info import CameraSpec

WORDS = ("put", "the", "red", "green", "blue", "cube", "ball", "into", "box", "bin", "plate", "and")
CELLS, CHANNELS, LAYERS, HEADS = 4, 2, 2, 3
"""Latent is CELLS x CELLS with CHANNELS; masses are of LAYERS and HEADS."""


def three_views(height: int = 480, width: int = 640) -> tuple[CameraSpec, ...]:
    """The station's three cameras at one size."""
    return tuple(CameraSpec(role=role, height=height, width=width) for role in ("top", "left_wrist", "right_wrist"))


def scripted_manifest(
    cameras: Sequence[CameraSpec] = three_views(),
    masses_from: Literal["action_step", "context"] = "action_step",
    horizon: int = 16,
    flow_steps: int = 4,
    guidance: Guidance | None = None,
    calibrated: bool = True,
) -> BundleManifest:
    """A minimal manifest: views side by side, absolute rows with statistics that change nothing."""
    absolute: ActionKind = "absolute"
    identity = Statistics(kind=absolute, offset=(0.0,) * SIZE, scale=(1.0,) * SIZE)
    video = Video(
        attention="bidirectional",
        latent_channels=CHANNELS,
        latent_frames=3,
        latent_height=CELLS,
        latent_width=CELLS,
        patch_height=1,
        patch_width=1,
        blocks=2,
        tap_block=1,
        sigma=0.5,
        passes=2,
        imagine_passes=4,
        pixel_frames=9,
        feature_source="untrained",
    )
    return BundleManifest(
        format=1,
        model_id="scripted",
        trained=False,
        precision="fp32",
        canvas=_side_by_side(cameras),
        video=video,
        text=Text(kind="words", max_words=12, vocabulary=WORDS),
        head=Head(
            kind="flow_transformer" if masses_from == "action_step" else "read_once",
            masses_from=masses_from,
            layers=LAYERS,
            heads=HEADS,
            horizon=horizon,
            step_ns=100_000_000,
            max_prefix=horizon // 2,
            flow_steps=flow_steps,
        ),
        state=identity,
        action=Action(kinds=(absolute,) * SIZE, statistics=(identity,)),
        guidance=guidance
        or Guidance(w_lang_max=1.5, w_plan_max=1.0, q_lo=0.3, q_hi=0.9, trained_nulls=("language", "future")),
        provenance=Provenance(command="scripted", seed=0),
        tr_calibration=_calibration(video.sigma, horizon) if calibrated else None,
        files={"script": "0" * 64},
        weights_hash="0" * 64,
    )


def _side_by_side(cameras: Sequence[CameraSpec]) -> Canvas:
    lefts = np.cumsum([0, *(camera.width for camera in cameras)])
    views = tuple(
        View(role=c.role, top=0, left=int(left), height=c.height, width=c.width, optional=c.optional)
        for c, left in zip(cameras, lefts[:-1], strict=True)
    )
    return Canvas(height=max(c.height for c in cameras), width=int(lefts[-1]), views=views)


def _calibration(sigma: float, horizon: int) -> TrCalibration:
    """TR itself is its rank."""
    quantiles = tuple(float(q) for q in np.linspace(0.0, 1.0, 11))
    return TrCalibration(
        quantiles=quantiles, replans=1, sigma=sigma, horizon=horizon, engine_id="scripted/fp32", source="scripted"
    )
