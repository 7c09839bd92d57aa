"""Board: every tensor that the loops of a replan read and write, allocated once, for the most branches there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from contract.manifest import BundleManifest
from policy_server.model.config import ModelConfig
from policy_server.model.graphs import CONTEXT_INPUTS, examples
from policy_server.model.head import ActionHead

MOST_BRANCHES = 3
SEEN = 2
"""Branches with a video forward of their own: full and nolang."""


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """Inputs are float32, as a host sends them; what stays on the device has the model's own type."""

    latent: Tensor
    """(1, C, 1, h, w)"""
    video_noise: Tensor
    """(C, T - 1, h, w)"""
    texts: Tensor
    """(2, L, Dt): of the instruction, of the null instruction"""
    state: Tensor
    """(1, 14) normalised"""
    action_noise: Tensor
    """(H, 14)"""
    prefix: Tensor
    """(H, 14): committed rows at the front, the rest is not looked at"""
    given: Tensor
    """(H, 1) bool: which rows `prefix` holds"""
    weights: Tensor
    """(2,): guidance scale of the second and third branch"""
    latents: Tensor
    """(2, C, T, h, w) between the passes"""
    features: Tensor
    """(2, N, D), the model's type"""
    context: dict[str, Tensor]
    """What the head needs again, by name, (3, ...): "full" first; the model's type"""
    rows: Tensor
    """(H, 14)"""
    masses: Tensor
    """(flow steps, layers, heads, H, 2) of the first branch; no steps for a head that gives them with its context"""
    finite: Tensor
    """(passes + 2 + flow steps,) bool: whether every value of each stage was: passes, tap, context, flow steps"""


def make_board(
    config: ModelConfig, action_head: ActionHead, manifest: BundleManifest, device: torch.device, dtype: torch.dtype
) -> Board:
    """An empty board for a model whose head is on `device` in `dtype` already."""
    example = examples(config, 1)
    latent, head = example["latents"], manifest.head
    steps = head.flow_steps if action_head.masses_from == "action_step" else 0

    def empty(*shape: int, kind: torch.dtype = torch.float32) -> Tensor:
        return torch.zeros(shape, dtype=kind, device=device)

    return Board(
        latent=empty(1, latent.shape[1], 1, *latent.shape[3:]),
        video_noise=empty(latent.shape[1], latent.shape[2] - 1, *latent.shape[3:]),
        texts=empty(SEEN, *example["text"].shape[1:]),
        state=empty(*example["state"].shape),
        action_noise=empty(*example["rows"].shape[1:]),
        prefix=empty(*example["rows"].shape[1:]),
        given=empty(example["rows"].shape[1], 1, kind=torch.bool),
        weights=empty(MOST_BRANCHES - 1),
        latents=empty(SEEN, *latent.shape[1:]),
        features=empty(SEEN, *example["features"].shape[1:], kind=dtype),
        context=_context(action_head, example, device, dtype),
        rows=empty(*example["rows"].shape[1:]),
        masses=empty(steps, head.layers, head.heads, head.horizon, 2),
        finite=empty(manifest.video.passes + 2 + manifest.head.flow_steps, kind=torch.bool),
    )


@torch.no_grad()
def _context(
    head: ActionHead, example: Mapping[str, Tensor], device: torch.device, dtype: torch.dtype
) -> dict[str, Tensor]:
    """Room for three branches of whatever the head's context is; its shapes are found by asking it once."""
    outputs = head.context(*(example[name].to(device, dtype) for name in CONTEXT_INPUTS))
    return {
        name: torch.zeros((MOST_BRANCHES, *each.shape[1:]), dtype=each.dtype, device=device)
        for name, each in zip(head.context_outputs, outputs, strict=True)
    }
