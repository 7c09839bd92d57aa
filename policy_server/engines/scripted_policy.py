"""A whole policy without a model: manifest and scripted graphs for any cameras, rows as given.

The head's velocity points from where the rows are to the scripted rows, so the last Euler step lands on them. Images,
text, noise, state and the imagined future have an `influence` on the rows only where asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contract.layout import SIZE
from contract.manifest import (
    Action,
    ActionKind,
    BundleManifest,
    Canvas,
    Guidance,
    Head,
    Provenance,
    Statistics,
    Text,
    TrCalibration,
    Video,
    View,
)
from contract.server_info import CameraSpec
from policy_server.engines.scripted import Arrays, ScriptedEngine, ScriptedGraph

WORDS = ("put", "the", "red", "green", "blue", "cube", "ball", "into", "box", "bin", "plate", "and")
CELLS, CHANNELS, LAYERS, HEADS = 4, 2, 2, 3
"""Latent is CELLS x CELLS with CHANNELS; masses are of LAYERS and HEADS."""

Rows = Callable[[NDArray], NDArray]
"""State (14,) -> absolute rows (H, 14)."""


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


@dataclass(slots=True)
class Script:
    """What the scripted graphs answer; may be changed between replans."""

    rows: Rows | NDArray | None = None
    """Absolute rows (H, 14) of the answer, counted from model row 0; None = stay at the measured state."""
    current_mass: float = 0.5
    future_mass: float = 0.25
    """TR is future_mass / current_mass at every step, layer, head and row; calibrated quantiles run from 0 to 1."""
    influence: float = 0.0
    """How much image, text, noise and future move the rows; 0 = only `rows` counts."""
    latency_ns: dict[str, int] = field(default_factory=dict)
    """Graph -> time a call takes."""


def scripted_engine(
    manifest: BundleManifest, script: Script | None = None, sleep: Callable[[float], None] = time.sleep
) -> ScriptedEngine:
    """The seven graphs of `manifest` as `script` has them."""
    say = _Graphs(manifest, script or Script())
    in_context = manifest.head.masses_from == "context"
    video = ("latents", "timesteps", "text")
    table = {
        "encode": (("canvas",), ("latent",), say.encode),
        "text": (("tokens",), ("text",), say.text),
        "video_step": (video, ("velocity",), say.video_step),
        "video_tap": (video, ("features",), say.video_tap),
        "context": (
            ("features", "text", "state", "future_keep"),
            ("memory", "masses") if in_context else ("memory",),
            say.context,
        ),
        "action_step": (
            ("rows", "times", "memory"),
            ("velocity",) if in_context else ("velocity", "masses"),
            say.action_step,
        ),
        "decode": (("latent",), ("frames",), say.decode),
    }
    latency = (script or Script()).latency_ns
    return ScriptedEngine({n: ScriptedGraph(*entry, latency.get(n, 0)) for n, entry in table.items()}, sleep)


class _Graphs:
    """Cheap functions with the shapes and dependencies of the real graphs."""

    def __init__(self, manifest: BundleManifest, script: Script) -> None:
        self._manifest = manifest
        self._script = script

    def encode(self, feeds: Arrays) -> dict[str, NDArray]:
        canvas = feeds["canvas"]
        cells = canvas[0, :: canvas.shape[1] // CELLS, :: canvas.shape[2] // CELLS][:CELLS, :CELLS, :CHANNELS]
        return {"latent": (np.moveaxis(cells, -1, 0)[np.newaxis, :, np.newaxis] / np.float32(255.0))}

    def text(self, feeds: Arrays) -> dict[str, NDArray]:
        return {"text": feeds["tokens"][..., np.newaxis].astype(np.float32)}

    def video_step(self, feeds: Arrays) -> dict[str, NDArray]:
        """Predicts that nothing moves but for a shift that the text gives."""
        latents, level = feeds["latents"], feeds["timesteps"][:, np.newaxis, :, np.newaxis, np.newaxis]
        shift = np.float32(0.01) * feeds["text"].mean((1, 2))[:, np.newaxis, np.newaxis, np.newaxis, np.newaxis]
        return {"velocity": (latents - latents[:, :, :1] - shift) / level}

    def video_tap(self, feeds: Arrays) -> dict[str, NDArray]:
        """Tokens are the latent cells, frame-major."""
        latents = feeds["latents"]
        return {"features": np.moveaxis(latents, 1, -1).reshape(len(latents), -1, latents.shape[1])}

    def context(self, feeds: Arrays) -> dict[str, NDArray]:
        """Memory (B, H, 14): the rows that the flow will land on."""
        script, state = self._script, feeds["state"]
        memory = np.stack([self._rows(one) for one in state]).astype(np.float32)
        if script.influence:
            tokens = self._manifest.video.tokens_per_frame
            current, future = feeds["features"][:, :tokens], feeds["features"][:, tokens:]
            seen = current.mean((1, 2)) + feeds["future_keep"] * future.mean((1, 2)) + feeds["text"].mean((1, 2))
            memory += np.float32(script.influence) * seen[:, np.newaxis, np.newaxis]
        outputs = {"memory": memory}
        if self._manifest.head.masses_from == "context":
            outputs["masses"] = self._masses(len(memory))[:, :1]
        return outputs

    def action_step(self, feeds: Arrays) -> dict[str, NDArray]:
        rows, times = feeds["rows"], feeds["times"][..., np.newaxis]
        distance = rows - feeds["memory"] * (1 + np.float32(self._script.influence) * np.tanh(rows))
        velocity = np.divide(distance, times, out=np.zeros_like(distance), where=times > 0)
        if self._manifest.head.masses_from == "context":
            return {"velocity": velocity}
        return {"velocity": velocity, "masses": self._masses(len(rows))}

    def decode(self, feeds: Arrays) -> dict[str, NDArray]:
        """Frames of one grey: the mean of the latent frame they lie in."""
        video, canvas = self._manifest.video, self._manifest.canvas
        per_latent = (video.pixel_frames - 1) // (video.latent_frames - 1)
        grey = np.clip(feeds["latent"][0].mean((0, 2, 3)) * 255.0, 0, 255).astype(np.uint8)
        grey = np.concatenate([grey[:1], np.repeat(grey[1:], per_latent)])
        shape = (1, len(grey), canvas.height, canvas.width, 3)
        return {"frames": np.broadcast_to(grey[np.newaxis, :, np.newaxis, np.newaxis, np.newaxis], shape)}

    def _rows(self, state: NDArray) -> NDArray:
        rows = self._script.rows
        if rows is None:
            return np.repeat(state[np.newaxis], self._manifest.head.horizon, axis=0)
        return rows(state) if callable(rows) else rows

    def _masses(self, branches: int) -> NDArray:
        shape = (branches, LAYERS, HEADS, self._manifest.head.horizon, 2)
        masses = np.empty(shape, np.float32)
        masses[..., 0], masses[..., 1] = self._script.current_mass, self._script.future_mass
        return masses


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
