"""The manifest of a checkpoint: its sizes and its card in the words of `policy.toml`."""

from __future__ import annotations

from typing import Literal

from contract.architecture import Head, Text, Video
from contract.manifest import BundleManifest
from policy_server.bundle import weights_hash
from policy_server.model.checkpoint import Checkpoint
from policy_server.model.config import ModelConfig
from policy_server.model.instruction import tokens_per_instruction

MS = 1_000_000
FORMAT: Literal[1] = 1


def manifest_of(checkpoint: Checkpoint, precision: Literal["fp32", "fp16", "bf16"]) -> BundleManifest:
    """Everything but the hashes of the files, which the bundle writer fills in."""
    config, card = checkpoint.config, checkpoint.card
    unsealed = {"policy.onnx": "0" * 64}
    return BundleManifest(
        format=FORMAT,
        model_id=card.model_id,
        trained=card.trained,
        precision=precision,
        canvas=config.canvas,
        video=_video(checkpoint),
        text=Text(
            kind=config.text.kind,
            max_words=tokens_per_instruction(config.text),
            vocabulary=config.text.vocabulary,
            reaches=None if config.text.reaches == "everything" else config.text.reaches,
        ),
        head=_head(config, checkpoint.model.head.masses_from),
        state=card.state,
        action=card.action,
        guidance=card.guidance,
        provenance=card.provenance,
        tr_calibration=card.tr_calibration,
        files=unsealed,
        weights_hash=weights_hash(unsealed),
    )


def _video(checkpoint: Checkpoint) -> Video:
    config, latent, backbone = checkpoint.config, checkpoint.config.latent, checkpoint.config.backbone
    height, width = config.latent_size
    return Video(
        attention=backbone.attention,
        latent_channels=latent.channels,
        latent_frames=latent.frames,
        latent_height=height,
        latent_width=width,
        patch_height=backbone.patch[1],
        patch_width=backbone.patch[2],
        blocks=backbone.layers,
        tap_block=backbone.tap_block,
        sigma=backbone.sigma,
        passes=backbone.passes,
        imagine_passes=checkpoint.card.imagine_passes,
        conditional_timestep=backbone.conditional_timestep,
        pixel_frames=1 + latent.temporal * (latent.frames - 1),
        frame_step_ns=round(1e9 / latent.frame_rate_hz),
        feature_source=checkpoint.card.feature_source,
    )


def _head(config: ModelConfig, masses_from: Literal["action_step", "context"]) -> Head:
    head = config.head
    return Head(
        kind=head.kind,
        masses_from=masses_from,
        # The read-once head attends in one layer, whatever its number of residual blocks.
        layers=head.layers if masses_from == "action_step" else 1,
        heads=head.heads,
        horizon=head.horizon,
        step_ns=head.step_ms * MS,
        max_prefix=head.max_prefix,
        flow_steps=head.flow_steps,
    )
