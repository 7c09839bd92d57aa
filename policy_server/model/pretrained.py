"""Loading a Cosmos checkpoint folder of diffusers into our modules, and caching its instructions."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional

from contract.errors import BundleError
from policy_server.model.backbone import CosmosBackbone

WEIGHTS = "diffusion_pytorch_model.safetensors"
PROJECTION = "crossattn_proj."
"""Cosmos-Predict2.5's projection of the text encoder's 100,352 numbers per token to 1,024; applied before caching."""


def load_transformer(backbone: CosmosBackbone, folder: Path) -> None:
    """Fill the backbone from the `transformer` folder of a Cosmos-Predict2.5 pipeline.

    The input layer has the same shape as ours: latent, condition and padding channels, in this order. Raises
    `BundleError` naming the first tensor that does not fit.
    """
    weights = {name: value for name, value in read_weights(folder).items() if not name.startswith(PROJECTION)}
    own = backbone.dit.state_dict()
    wrong = sorted(name for name in own.keys() | weights.keys() if _shape(own.get(name)) != _shape(weights.get(name)))
    if wrong:
        name = wrong[0]
        raise BundleError(
            f"{folder}, {len(wrong)} tensors, the first {name}",
            expected=_shape(own.get(name)),
            got=_shape(weights.get(name)),
            remedy="use the model size of this checkpoint",
        )
    backbone.dit.load_state_dict(weights)


def project_text(folder: Path, hidden: Tensor) -> Tensor:
    """(..., 100352) text encoder states -> (..., 1024), what a bundle caches: a linear layer and GELU."""
    weights = read_weights(folder)
    return functional.gelu(functional.linear(hidden, weights[f"{PROJECTION}0.weight"], weights[f"{PROJECTION}0.bias"]))


def read_weights(folder: Path) -> dict[str, Tensor]:
    """All tensors of a diffusers model folder, in one file or in shards. Raises `BundleError` when there are none."""
    index = folder / f"{WEIGHTS}.index.json"
    if index.is_file():
        shards = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    else:
        shards = [WEIGHTS]
    missing = [name for name in shards if not (folder / name).is_file()]
    if missing:
        raise BundleError(f"{folder}", expected=f"{WEIGHTS} or its index and shards", got=f"no {missing[0]}")
    return {name: value for shard in shards for name, value in load_file(str(folder / shard)).items()}


def _shape(tensor: torch.Tensor | None) -> tuple[int, ...] | None:
    return None if tensor is None else tuple(tensor.shape)
