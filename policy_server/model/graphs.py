"""The graphs of a bundle as modules that share the model's weights.

Their names, inputs and outputs are the contract between export, engines and pipeline. Every graph but `encode` and
`decode` has a free batch axis, the branches of guidance. Noise, number of steps, prefix rows and times are inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from policy_server.model.config import ModelConfig
from policy_server.model.instruction import tokens_per_instruction
from policy_server.model.latent import LatentEncoder, to_uint8
from policy_server.model.policy import VideoActionModel

VIDEO_PAIR = ("video_step", "video_tap")
"""They hold the same weights and share one file of them."""


Names = tuple[str, ...]
Function = Callable[..., "Tensor | tuple[Tensor, ...]"]


class GraphModule(nn.Module):
    """A bound function of the model as a module; `owner` keeps its weights registered under their own names."""

    def __init__(self, owner: nn.Module, function: Function) -> None:
        super().__init__()
        self.owner = owner
        self.function = function

    def forward(self, *inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        return self.function(*inputs)


@dataclass(frozen=True, slots=True)
class Graph:
    """One graph: what computes it, its named example inputs (batch 2 where free) and its outputs."""

    name: str
    module: GraphModule
    inputs: dict[str, Tensor]
    outputs: tuple[str, ...]
    branches: bool
    """Whether axis 0 of every input is free."""


def graphs_of(model: VideoActionModel) -> dict[str, Graph]:
    """Every graph of the model by name."""
    example = examples(model.config)
    with torch.no_grad():
        context = model.head.context(*(example[name] for name in CONTEXT_INPUTS))
    example.update(zip(model.head.context_outputs, context, strict=True))
    masses = ("masses",) if model.head.with_masses and model.head.masses_from == "action_step" else ()
    latent, backbone, head = model.latent, model.backbone, model.head

    def graph(name: str, owner: nn.Module, function: Function, inputs: Names, outputs: Names) -> Graph:
        return Graph(name, GraphModule(owner, function), {key: example[key] for key in inputs}, outputs, True)

    made = (
        Graph("encode", GraphModule(latent, latent.encode), {"canvas": example["canvas"]}, ("latent",), False),
        graph("text", model.instruction, model.instruction.forward, ("tokens",), ("text",)),
        graph("video_step", backbone, backbone.velocity, VIDEO_INPUTS, ("velocity",)),
        graph("video_tap", backbone, backbone.features, VIDEO_INPUTS, ("features",)),
        graph("context", head, head.context, CONTEXT_INPUTS, head.context_outputs),
        graph("action_step", head, head.action_step, ("rows", "times", *head.step_inputs), ("velocity", *masses)),
        Graph("decode", GraphModule(latent, _pictures(latent)), {"latent": example["clip"]}, ("frames",), False),
    )
    return {one.name: one for one in made}


def _pictures(latent: LatentEncoder) -> Function:
    return lambda latents: to_uint8(latent.decode(latents))


VIDEO_INPUTS = ("latents", "timesteps", "text")
CONTEXT_INPUTS = ("features", "text", "state", "future_keep")


def examples(config: ModelConfig, batch: int = 2) -> dict[str, Tensor]:
    """One tensor per named input, of the right shape, from a fixed seed."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    latent, head = config.latent, config.head
    frames, rows, columns = config.token_grid
    canvas = (1, config.canvas.height, config.canvas.width, 3)
    return {
        "canvas": torch.randint(0, 256, canvas, generator=generator, dtype=torch.uint8),
        "clip": normal(1, latent.channels, latent.frames, *config.latent_size),
        "tokens": torch.zeros(batch, tokens_per_instruction(config.text), dtype=torch.int64),
        "latents": normal(batch, latent.channels, latent.frames, *config.latent_size),
        "timesteps": torch.rand(batch, latent.frames, generator=generator),
        "text": normal(batch, config.text.length, config.text.width),
        "features": normal(batch, frames * rows * columns, config.backbone.width),
        "state": normal(batch, head.actions),
        "future_keep": torch.ones(batch),
        "rows": normal(batch, head.horizon, head.actions),
        "times": torch.rand(batch, head.horizon, generator=generator),
    }
