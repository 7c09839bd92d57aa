"""The shapes that engines are timed on: random weights, real sizes."""

from __future__ import annotations

from typing import Final

from contract.architecture import Canvas, View
from contract.errors import ConfigurationError
from policy_server.model.config import BackboneConfig, HeadConfig, LatentConfig, ModelConfig, TextConfig
from policy_server.model.presets import cosmos_2b, tiny

CANVASES: Final = ((256, 256), (480, 640))
"""Height and width in pixels: 1,280 and 6,000 tokens of 8 x 8 latent cells in 2 x 2 patches, five frames."""


def mid(height: int, width: int) -> ModelConfig:
    """A Cosmos of about 100 million parameters: 12 blocks, width 640."""
    return _cosmos("mid", height, width, BackboneConfig(
        layers=12, heads=10, head_dim=64, adaln_lora_dim=256, kernel="fused", tap_block=7, sigma=0.6, passes=1,
    ))  # fmt: skip


def full(height: int, width: int) -> ModelConfig:
    """Cosmos-Predict2.5-2B's backbone and the head that goes with it."""
    base = cosmos_2b()
    return base.model_copy(update={"name": "cosmos_2b", "canvas": _one_view(height, width)})


def sizes(names: tuple[str, ...]) -> tuple[tuple[str, ModelConfig], ...]:
    """(label, configuration) of every size named; `tiny` has its own canvas, the others both of CANVASES."""
    found: list[tuple[str, ModelConfig]] = []
    for name in names:
        if name == "tiny":
            found.append(("tiny 64x96", tiny()))
        elif name in ("mid", "full"):
            make = mid if name == "mid" else full
            found += [(f"{name} {height}x{width}", make(height, width)) for height, width in CANVASES]
        else:
            raise ConfigurationError("--sizes", expected="tiny, mid, full", got=name, remedy="use those")
    return tuple(found)


def _cosmos(name: str, height: int, width: int, backbone: BackboneConfig) -> ModelConfig:
    return ModelConfig(
        name=name,
        canvas=_one_view(height, width),
        latent=LatentConfig(kind="conv", channels=16, width=32),
        text=TextConfig(kind="cached", width=1024, length=64, vocabulary=("put the cube in the bin",)),
        backbone=backbone,
        head=HeadConfig(kind="flow_transformer", width=512, layers=4, heads=8, head_dim=64, time_width=128),
    )


def _one_view(height: int, width: int) -> Canvas:
    return Canvas(height=height, width=width, views=(View(role="top", top=0, left=0, height=height, width=width),))
