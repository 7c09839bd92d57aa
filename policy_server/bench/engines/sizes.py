"""The shapes that engines are timed on: random weights, real sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from contract.architecture import Canvas, View
from contract.errors import ConfigurationError
from policy_server.model.config import BackboneConfig, HeadConfig, LatentConfig, ModelConfig, TextConfig
from policy_server.model.presets import cosmos_2b, tiny

CANVASES: Final = ("256x256", "480x640")
"""Height and width in pixels: 1,280 and 6,000 tokens of 8 x 8 latent cells in 2 x 2 patches, five frames."""
NAMES: Final = ("tiny", "mid", "full")
_CELL: Final = 16
"""Pixels of a token's side."""


def small(height: int, width: int) -> ModelConfig:
    """The tiny policy's sizes on a larger canvas, in patches as Cosmos'."""
    base = tiny()
    backbone = base.backbone.model_copy(update={"patch": (1, 2, 2), "kernel": "fused"})
    head = base.head.model_copy(update={"kernel": "fused"})
    return base.model_copy(update={"backbone": backbone, "head": head, "canvas": _one_view(height, width)})


def mid(height: int, width: int) -> ModelConfig:
    """A Cosmos of about 100 million parameters: 12 blocks, width 640."""
    return ModelConfig(
        name="mid",
        canvas=_one_view(height, width),
        latent=LatentConfig(kind="conv", channels=16, width=32),
        text=TextConfig(kind="cached", width=1024, length=64, vocabulary=("put the cube in the bin",)),
        backbone=BackboneConfig(
            layers=12, heads=10, head_dim=64, adaln_lora_dim=256, kernel="fused", tap_block=7, sigma=0.6, passes=1
        ),
        head=HeadConfig(
            kind="flow_transformer", width=512, layers=4, heads=8, head_dim=64, time_width=128, kernel="fused"
        ),
    )


def full(height: int, width: int) -> ModelConfig:
    """Cosmos-Predict2.5-2B's backbone and the head that goes with it."""
    return cosmos_2b().model_copy(update={"canvas": _one_view(height, width)})


def sizes(names: Sequence[str], canvases: Sequence[str] = CANVASES) -> tuple[tuple[str, ModelConfig], ...]:
    """(label, configuration) of every size on every canvas; `tiny` comes on its own canvas too.

    Raises `ConfigurationError` for an unknown size, or a canvas that is not HEIGHTxWIDTH in whole tokens.
    """
    found: list[tuple[str, ModelConfig]] = []
    shapes = [_shape(canvas) for canvas in canvases]
    for name in names:
        if name not in NAMES:
            raise ConfigurationError("--sizes", expected=", ".join(NAMES), got=name, remedy="use those")
        if name == "tiny":
            found.append((f"tiny {tiny().canvas.height}x{tiny().canvas.width}", tiny()))
        make = {"tiny": small, "mid": mid, "full": full}[name]
        found += [(f"{name} {height}x{width}", make(height, width)) for height, width in shapes]
    return tuple(found)


def _shape(canvas: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{2,4})x(\d{2,4})", canvas)
    height, width = (int(each) for each in match.groups()) if match else (1, 1)
    if height % _CELL or width % _CELL:
        raise ConfigurationError(
            "--canvases", expected=f"HEIGHTxWIDTH in multiples of {_CELL}", got=canvas, remedy="for example 256x256"
        )
    return height, width


def _one_view(height: int, width: int) -> Canvas:
    return Canvas(height=height, width=width, views=(View(role="top", top=0, left=0, height=height, width=width),))
