"""A policy around a pretrained Cosmos: its transformer and autoencoder, cached instructions, an untrained head."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from contract.architecture import Canvas
from contract.errors import BundleError
from policy_server.model.checkpoint import save_checkpoint
from policy_server.model.config import HeadConfig, ModelConfig, TextConfig
from policy_server.model.cosmos.adapters import merge_adapter
from policy_server.model.cosmos.embeddings import Embeddings
from policy_server.model.cosmos.folder import CosmosFolder
from policy_server.model.instruction import CachedInstructions
from policy_server.model.policy import VideoActionModel, build
from policy_server.model.pretrained import load_transformer, read_weights
from policy_server.model.untrained import untrained_card


@dataclass(frozen=True, slots=True)
class Wish:
    """What the folder does not say."""

    canvas: Canvas
    head: HeadConfig
    tap_block: int
    sigma: float
    passes: int
    frames: int = 5
    station: str = "yam_example"
    seed: int = 0


def adopt(folder: CosmosFolder, wish: Wish, embeddings: Embeddings, adapter: Path | None, out: Path) -> ModelConfig:
    """Write a checkpoint folder of the pretrained video model with an untrained head.

    Raises `BundleError` naming the first tensor, size or embedding that does not fit.
    """
    config = config_of(folder, wish, embeddings)
    model = build(config, wish.seed)
    load_transformer(model.backbone, folder.transformer)
    _load_autoencoder(model, folder)
    _store(model, embeddings)
    names = () if adapter is None else (merge_adapter(model.backbone, adapter),)
    command = f"yam-policy adopt {folder.path.name}"
    card = untrained_card(config, wish.seed, wish.station, command)
    provenance = card.provenance.model_copy(
        update={"data": f"backbone pretrained: {folder.path.name}; head untrained", "adapters": names}
    )
    save_checkpoint(model, card.model_copy(update={"provenance": provenance}), out)
    return config


def config_of(folder: CosmosFolder, wish: Wish, embeddings: Embeddings) -> ModelConfig:
    """Sizes of the whole policy."""
    length, width = embeddings.null.shape
    if width != folder.text_width():
        raise BundleError(
            "embeddings", expected=f"width {folder.text_width()}", got=width, remedy="embed with this very folder"
        )
    return ModelConfig(
        name=folder.path.name[:48] or "cosmos",
        canvas=wish.canvas,
        latent=folder.latent(wish.frames),
        text=TextConfig(kind="cached", width=width, length=length, vocabulary=embeddings.sentences),
        backbone=folder.backbone(wish.tap_block, wish.sigma, wish.passes),
        head=wish.head,
    )


def count_parameters(config: ModelConfig, progress: Callable[[str], None] = lambda line: None) -> dict[str, int]:
    """Parameters by part, counted on torch's meta device: no memory is used, whatever the size."""
    with torch.device("meta"):
        model = VideoActionModel(config)
    parts = {"autoencoder": model.latent, "backbone": model.backbone, "head": model.head, "text": model.instruction}
    counts = {}
    for name, part in parts.items():
        counts[name] = sum(each.numel() for each in part.parameters())
        progress(f"{name:12} {counts[name] / 1e6:10.1f} M")
    return counts


def _load_autoencoder(model: VideoActionModel, folder: CosmosFolder) -> None:
    own, weights = model.latent.vae.state_dict(), read_weights(folder.vae)  # type: ignore[union-attr]
    wrong = sorted(name for name in own.keys() | weights.keys() if name not in own or name not in weights
                   or own[name].shape != weights[name].shape)  # fmt: skip
    if wrong:
        raise BundleError(
            f"{folder.vae}, {len(wrong)} tensors, the first {wrong[0]}", expected="those of AutoencoderKLWan",
            got="another shape or none", remedy="download the folder again",
        )  # fmt: skip
    model.latent.vae.load_state_dict(weights)  # type: ignore[union-attr]


def _store(model: VideoActionModel, embeddings: Embeddings) -> None:
    table = model.instruction
    if not isinstance(table, CachedInstructions):
        raise BundleError("text", expected="cached instructions", got=type(table).__name__)
    table.store_null(embeddings.null)
    for number in range(len(embeddings.sentences)):
        table.store(number, embeddings.table[number])
