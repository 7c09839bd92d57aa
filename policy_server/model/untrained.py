"""An untrained policy from a fixed seed: the product runs with it before anything has been trained, and says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from contract.layout import GRIPPER_MASK, SIZE
from contract.manifest import Action, Guidance, Provenance, Statistics
from contract.station import load_station
from policy_server.model.card import PolicyCard
from policy_server.model.checkpoint import save_checkpoint
from policy_server.model.config import ModelConfig
from policy_server.model.head_flow import FlowLayer, FlowTransformerHead
from policy_server.model.head_once import Reader
from policy_server.model.latent_conv import ConvLatent
from policy_server.model.policy import VideoActionModel, build
from policy_server.model.presets import preset

SWING_RAD, SWING_GRIPPER = 0.25, 0.3
"""One unit of normalised action: untrained chunks stay within about two of these of the station's home pose."""

SHARPNESS = 4.0

MIDDLE_GRIPPER = 0.6
"""Untrained grippers move about this opening."""


def make_untrained(
    out: Path, seed: int = 0, size: str | ModelConfig = "tiny", station: str = "twin", command: str = ""
) -> VideoActionModel:
    """Write a checkpoint folder of untrained weights to `out`; the same arguments give the same bytes.

    Actions are absolute joint targets about the station's home pose, so the arms move gently around it.
    """
    model = untrained_model(seed, size)
    save_checkpoint(model, untrained_card(model.config, seed, station, command), out)
    return model


def untrained_model(seed: int = 0, size: str | ModelConfig = "tiny") -> VideoActionModel:
    """The untrained model itself; `size` is the name of a preset or a configuration."""
    config = preset(size) if isinstance(size, str) else size
    model = build(config, seed)
    if isinstance(model.latent, ConvLatent):
        model.latent.initialise_from(drawn_canvases(config, seed))
    sharpen(model)
    return model


@torch.no_grad()
def sharpen(model: VideoActionModel) -> None:
    """Let untrained attention look at few tokens instead of averaging over all, so that what is seen moves the arms."""
    for module in model.modules():
        if isinstance(module, FlowTransformerHead):
            module.row.weight.mul_(1 / SHARPNESS)
        if isinstance(module, FlowLayer | Reader):
            module.norm_query.gain.mul_(SHARPNESS)
        if isinstance(module, FlowLayer):
            module.cross_out.weight.mul_(SHARPNESS)
            module.own_out.weight.mul_(1 / SHARPNESS)


def untrained_card(config: ModelConfig, seed: int, station: str, command: str) -> PolicyCard:
    """Everything the manifest must say of an untrained policy."""
    home = np.where(GRIPPER_MASK, MIDDLE_GRIPPER, load_station(station).poses.home.vector())
    swing = np.where(GRIPPER_MASK, SWING_GRIPPER, SWING_RAD)
    about_home = Statistics(kind="absolute", offset=tuple(home.tolist()), scale=tuple(swing.tolist()))
    return PolicyCard(
        model_id=f"{config.name}-untrained-{seed}",
        trained=False,
        feature_source="untrained",
        imagine_passes=10,
        state=about_home,
        action=Action(kinds=tuple(about_home.kind for _ in range(SIZE)), statistics=(about_home,)),
        # The nulls are as untrained as everything else; they are listed so that the guidance path runs.
        guidance=Guidance(w_lang_max=1.0, w_plan_max=1.0, trained_nulls=("language", "future")),
        provenance=Provenance(
            command=command or f"make_untrained(seed={seed}, size={config.name!r}, station={station!r})",
            seed=seed,
            data="none: random weights, nothing was trained",
        ),
    )


def drawn_canvases(config: ModelConfig, seed: int, count: int = 32) -> Tensor:
    """(count, Hc, Wc, 3) uint8 pictures of coloured rectangles, to give the encoder's channels their scale."""
    generator = torch.Generator().manual_seed(seed)
    height, width = config.canvas.height, config.canvas.width
    canvases = torch.randint(60, 200, (count, 1, 1, 3), generator=generator).expand(-1, height, width, -1).clone()
    for canvas in canvases:
        for _ in range(12):
            top, left, high, wide = (
                int(torch.randint(low, limit, (), generator=generator))
                for low, limit in ((0, height), (0, width), (2, height // 3), (2, width // 3))
            )
            canvas[top : top + high, left : left + wide] = torch.randint(0, 256, (3,), generator=generator)
    noise = torch.randint(-8, 9, canvases.shape, generator=generator)
    return (canvases + noise).clamp(0, 255).byte()
