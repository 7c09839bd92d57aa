"""How far the action loss reaches below the head: not at all, through low-rank additions (LoRA), or everywhere."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import torch
from peft import LoraConfig, inject_adapter_in_model
from peft.tuners.lora import LoraLayer
from torch import nn

from policy_server.model.policy import VideoActionModel
from training.run import Run

_ADAPTED = ("to_q", "to_k", "to_v", "to_out.0", "ff.net.0.proj", "ff.net.2")
"""Layers of a Cosmos block that get additions: attention and feed-forward, as Cosmos' own LoRA fine-tuning has it."""


def adapt(model: VideoActionModel, run: Run) -> None:
    """Add the run's LoRA to the backbone's blocks in place; nothing for other adaptations.

    The additions start at zero (Hu et al. 2021), so the model is still the one it was; their seed is the run's.
    """
    if run.stage != "action" or run.action.adaptation != "lora":
        return
    rank = run.action.lora_rank
    config = LoraConfig(r=rank, lora_alpha=rank, lora_dropout=0.0, bias="none", target_modules=list(_ADAPTED))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(run.seed)
        inject_adapter_in_model(config, model.backbone.dit)


def trained_by_actions(model: VideoActionModel, adaptation: str) -> Iterator[nn.Parameter]:
    """The parameters that the action loss trains: the head, and below it what the adaptation says."""
    if adaptation == "full":
        yield from model.latent.parameters()
        yield from model.instruction.parameters()
        yield from model.backbone.parameters()
    elif adaptation == "lora":
        yield from _additions(model)
    yield from model.head.parameters()


def _additions(model: VideoActionModel) -> Iterator[nn.Parameter]:
    for name, parameter in model.backbone.named_parameters():
        if ".lora_" in name:
            yield parameter


def merged(model: VideoActionModel) -> VideoActionModel:
    """The model as plain layers, additions added in: what a checkpoint keeps. The model itself if it has none."""
    if not any(isinstance(module, LoraLayer) for module in model.modules()):
        return model
    plain = copy.deepcopy(model)
    for parent in list(plain.modules()):
        for name, module in list(parent.named_children()):
            if isinstance(module, LoraLayer):
                module.merge()
                setattr(parent, name, module.get_base_layer())
    return plain
