"""The shipped sizes."""

from __future__ import annotations

from contract.architecture import Canvas, View
from contract.errors import ConfigurationError
from policy_server.model.config import BackboneConfig, HeadConfig, LatentConfig, ModelConfig, TextConfig

VOCABULARY = (
    "ball", "bin", "blue", "bowl", "box", "brick", "cube", "cylinder", "green", "in", "on", "plate", "put", "red",
    "the", "yellow",
)  # fmt: skip
"""Words of the twin's instructions, "put the OBJECT in/on the RECEPTACLE"; a test compares them with the twin's."""


def _station_canvas(top: int) -> Canvas:
    """Top view at the left, the two wrist views of half its size stacked at the right."""
    half = top // 2
    views = (
        View(role="top", top=0, left=0, height=top, width=top),
        View(role="left_wrist", top=0, left=top, height=half, width=half),
        View(role="right_wrist", top=half, left=top, height=half, width=half),
    )
    return Canvas(height=top, width=top + half, views=views)


def _row_canvas(height: int, width: int) -> Canvas:
    """Three equal views side by side, as the paper's authors tile YAM: 3 x (240 x 320) = 240 x 960."""
    roles = ("top", "left_wrist", "right_wrist")
    views = tuple(View(role=role, top=0, left=i * width, height=height, width=width) for i, role in enumerate(roles))
    return Canvas(height=height, width=3 * width, views=views)


def tiny() -> ModelConfig:
    """A few MB in all; a replan takes well under 60 ms on one CPU thread."""
    return ModelConfig(
        name="tiny",
        canvas=_station_canvas(64),
        latent=LatentConfig(kind="conv", channels=32, width=16),
        text=TextConfig(kind="words", width=64, length=12, vocabulary=VOCABULARY),
        backbone=BackboneConfig(
            layers=3, heads=2, head_dim=48, patch=(1, 1, 1), adaln_lora_dim=24, rope_scale=(1.0, 1.0, 1.0),
            extra_pos_embed="learnable", tap_block=1, sigma=0.6, passes=1,
        ),
        head=HeadConfig(kind="flow_transformer", width=96, layers=2, heads=4, head_dim=24, time_width=32),
    )  # fmt: skip


def tiny_once() -> ModelConfig:
    """The tiny canvas with a wider backbone and the read-once head, sizes of the trial that grasped."""
    return tiny().model_copy(
        update={
            "name": "tiny_once",
            "latent": LatentConfig(kind="conv", channels=32, width=32),
            "backbone": tiny().backbone.model_copy(update={"head_dim": 64, "adaln_lora_dim": 32}),
            "head": HeadConfig(kind="read_once", width=512, layers=3, heads=8, head_dim=16, time_width=16),
        }
    )


def grasper() -> ModelConfig:
    """The tiny canvas for a policy trained on the twin: pixel blocks, frame-causal Cosmos, read-once head."""
    return ModelConfig(
        name="grasper",
        canvas=_station_canvas(64),
        latent=LatentConfig(kind="blocks", channels=96, block_channels=32, width=32),
        text=TextConfig(kind="words", width=64, length=12, vocabulary=VOCABULARY),
        backbone=BackboneConfig(
            layers=4, heads=2, head_dim=64, patch=(1, 1, 1), adaln_lora_dim=32, rope_scale=(1.0, 1.0, 1.0),
            extra_pos_embed="learnable", attention="frame_causal", current_only_channels=64,
            tap_block=2, sigma=1.0, passes=0,
        ),
        head=HeadConfig(kind="read_once", width=512, layers=3, heads=8, head_dim=16, time_width=16),
    )  # fmt: skip


def foresight() -> ModelConfig:
    """The grasper whose instruction reaches the head through the imagined future alone: one frame, 1.6 s ahead.

    One later frame instead of four, because all later frames have to be trained and a CPU does that five times as fast.
    """
    base = grasper()
    return base.model_copy(
        update={
            "name": "foresight",
            "latent": base.latent.model_copy(update={"frames": 2, "temporal": 16}),
            "text": base.text.model_copy(update={"reaches": "future"}),
        }
    )


def small_grasper() -> ModelConfig:
    """The grasper at twice the picture, wider and deeper, for training on a GPU (training/gpu/small.sh)."""
    base = grasper()
    return base.model_copy(
        update={
            "name": "small_grasper",
            "canvas": _station_canvas(128),
            "latent": base.latent.model_copy(update={"width": 48}),
            "text": base.text.model_copy(update={"width": 128}),
            "backbone": base.backbone.model_copy(
                update={"layers": 6, "heads": 4, "patch": (1, 2, 2), "adaln_lora_dim": 64, "tap_block": 3}
            ),
        }
    )


def small() -> ModelConfig:
    """For a GPU: twice the picture, 480 tokens of 16 pixels at width 384."""
    return ModelConfig(
        name="small",
        canvas=_station_canvas(128),
        latent=LatentConfig(kind="conv", channels=32, width=48),
        text=TextConfig(kind="words", width=128, length=12, vocabulary=VOCABULARY),
        backbone=BackboneConfig(
            layers=8, heads=6, head_dim=64, patch=(1, 2, 2), adaln_lora_dim=64, rope_scale=(1.0, 1.0, 1.0),
            extra_pos_embed="learnable", tap_block=4, sigma=0.6, passes=1,
        ),
        head=HeadConfig(kind="flow_transformer", width=256, layers=4, heads=8, head_dim=32),
    )  # fmt: skip


def cosmos_2b() -> ModelConfig:
    """Cosmos-Predict2.5-2B on the authors' 240 x 960 canvas: 28 blocks, width 2048, 4,500 tokens (PAPER.md)."""
    return ModelConfig(
        name="cosmos_2b",
        canvas=_row_canvas(240, 320),
        latent=LatentConfig(kind="wan", channels=16, width=96),
        text=TextConfig(kind="cached", width=1024, length=512),
        backbone=BackboneConfig(layers=28, heads=16, head_dim=128, kernel="fused", tap_block=18, sigma=0.6, passes=1),
        head=HeadConfig(
            kind="flow_transformer", width=1024, layers=8, heads=8, head_dim=128, time_width=256, kernel="fused"
        ),
    )


PRESETS = {make.__name__: make for make in (tiny, tiny_once, grasper, foresight, small_grasper, small, cosmos_2b)}


def preset(name: str) -> ModelConfig:
    """The configuration by name; raises `ConfigurationError` listing the known ones."""
    if name not in PRESETS:
        raise ConfigurationError("model size", expected=", ".join(PRESETS), got=name, remedy="use one of these")
    return PRESETS[name]()
