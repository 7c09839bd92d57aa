"""A model small enough to export in seconds, with either head."""

from __future__ import annotations

from contract.architecture import Canvas, View
from policy_server.model.config import BackboneConfig, HeadConfig, LatentConfig, ModelConfig, TextConfig
from policy_server.model.presets import VOCABULARY

HEADS = ("flow_transformer", "read_once")


def nano(head: str = "flow_transformer", **backbone: object) -> ModelConfig:
    """Two blocks on a 32 x 48 canvas: 3 latent frames of 2 x 3 tokens."""
    sizes = {"layers": 2, "heads": 2, "head_dim": 16, "adaln_lora_dim": 8, "tap_block": 0, "sigma": 0.5, "passes": 2}
    views = (
        View(role="top", top=0, left=0, height=32, width=32),
        View(role="left_wrist", top=0, left=32, height=16, width=16),
        View(role="right_wrist", top=16, left=32, height=16, width=16),
    )
    return ModelConfig(
        name="nano",
        canvas=Canvas(height=32, width=48, views=views),
        latent=LatentConfig(kind="conv", channels=6, frames=3, width=4),
        text=TextConfig(kind="words", width=16, length=8, vocabulary=VOCABULARY),
        backbone=BackboneConfig(**{**sizes, "extra_pos_embed": "learnable", **backbone}),
        head=HeadConfig(kind=head, horizon=6, max_prefix=3, width=32, heads=2, head_dim=8, time_width=16),
    )
