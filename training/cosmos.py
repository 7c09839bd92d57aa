"""A Cosmos-Predict2.5 pipeline folder of diffusers as a checkpoint to start from: video weights theirs, head new."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from contract.errors import BundleError, ConfigurationError
from contract.layout import SIZE
from contract.manifest import Action, Guidance, Provenance, Statistics
from policy_server.model.card import PolicyCard
from policy_server.model.checkpoint import save_checkpoint
from policy_server.model.config import ModelConfig
from policy_server.model.instruction import CachedInstructions
from policy_server.model.latent_wan import WanLatent
from policy_server.model.policy import VideoActionModel, build
from policy_server.model.presets import preset
from policy_server.model.pretrained import load_transformer, read_weights

TRANSFORMER, VAE = "transformer", "vae"
_VAE_KEYS = ("dim_mult", "num_res_blocks", "attn_scales", "temperal_downsample", "latents_mean", "latents_std")


def adopt_cosmos(folder: Path, instructions: Path, out: Path, size: str = "cosmos_2b", seed: int = 0) -> ModelConfig:
    """Write a checkpoint folder from `folder`/transformer and `folder`/vae; canvas and head are those of `size`.

    `instructions`: safetensors with one (L, text width) tensor a sentence, text encoder's states after
    `policy_server.model.pretrained.project_text`. Raises `BundleError` naming what is missing or does not fit.
    """
    sentences = _sentences(instructions)
    config = config_of_folder(folder, tuple(sorted(sentences)), preset(size))
    model = build(config, seed)
    load_transformer(model.backbone, folder / TRANSFORMER)
    _load_vae(model, folder / VAE)
    _store(model, sentences, instructions)
    save_checkpoint(model, _card(folder, seed), out)
    return config


def config_of_folder(folder: Path, sentences: tuple[str, ...], base: ModelConfig) -> ModelConfig:
    """Sizes of video model and autoencoder from the folder, everything else from `base`."""
    dit, vae = _json(folder / TRANSFORMER / "config.json"), _json(folder / VAE / "config.json")
    layers = int(dit["num_layers"])
    backbone = {
        "layers": layers,
        "heads": dit["num_attention_heads"],
        "head_dim": dit["attention_head_dim"],
        "mlp_ratio": dit["mlp_ratio"],
        "adaln_lora_dim": dit["adaln_lora_dim"],
        "patch": tuple(dit["patch_size"]),
        "rope_scale": tuple(dit["rope_scale"]),
        "extra_pos_embed": "none" if dit.get("extra_pos_embed_type") is None else "learnable",
        # The same share of the way up as in the size that is taken as an example.
        "tap_block": min(layers - 1, round((base.backbone.tap_block + 1) / base.backbone.layers * layers) - 1),
    }
    latent = {
        "channels": vae["z_dim"],
        "width": vae["base_dim"],
        "vae": {key: vae[key] for key in _VAE_KEYS if key in vae},
    }
    text = {"width": dit["text_embed_dim"], "vocabulary": sentences}
    parts = {"backbone": backbone, "latent": latent, "text": text}
    told = {**base.model_dump(), **{name: {**getattr(base, name).model_dump(), **new} for name, new in parts.items()}}
    return ModelConfig.model_validate({**told, "name": f"{base.name}_of_{folder.name}"})


def _sentences(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(str(path))
    except (OSError, SafetensorError) as error:
        raise BundleError(
            f"{path}",
            expected="safetensors with one tensor (tokens, width) a sentence",
            got=str(error)[:120],
            remedy="cache the text encoder's states, see docs/cosmos.md",
        ) from error


def _store(model: VideoActionModel, sentences: Mapping[str, Tensor], path: Path) -> None:
    if not isinstance(model.instruction, CachedInstructions):
        raise ConfigurationError("text.kind of the size", expected="cached", got=model.config.text.kind)
    text = model.config.text
    for number, sentence in enumerate(text.vocabulary):
        given = sentences[sentence]
        if given.ndim != 2 or given.shape[1] != text.width or given.shape[0] > text.length:
            raise BundleError(
                f"{path}: {sentence!r}",
                expected=f"at most {text.length} tokens of width {text.width}",
                got=tuple(given.shape),
                remedy="project the states first (policy_server.model.pretrained.project_text)",
            )
        padded = torch.zeros(text.length, text.width)
        padded[: len(given)] = given.float()
        model.instruction.store(number, padded)


def _load_vae(model: VideoActionModel, folder: Path) -> None:
    if not isinstance(model.latent, WanLatent):
        raise ConfigurationError("latent.kind of the size", expected="wan", got=model.config.latent.kind)
    weights, own = read_weights(folder), model.latent.vae.state_dict()
    wrong = sorted(n for n in own.keys() | weights.keys() if n not in own or n not in weights)
    wrong += sorted(n for n in own.keys() & weights.keys() if own[n].shape != weights[n].shape)
    if wrong:
        raise BundleError(f"{folder}", expected="an AutoencoderKLWan", got=f"{wrong[0]} does not fit")
    model.latent.vae.load_state_dict(weights)


def _json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BundleError(
            f"{path}", expected="a model folder of diffusers", got=str(error)[:120], remedy="check the folder"
        ) from error


def _card(folder: Path, seed: int) -> PolicyCard:
    """No statistics of any data yet: training measures them."""
    plain = Statistics(kind="absolute", offset=(0.0,) * SIZE, scale=(1.0,) * SIZE)
    return PolicyCard(
        model_id=f"cosmos-{folder.name}"[:64],
        trained=False,
        feature_source="untrained",
        imagine_passes=35,
        state=plain,
        action=Action(kinds=("absolute",) * SIZE, statistics=(plain,)),
        guidance=Guidance(),
        provenance=Provenance(command="yam-train cosmos", seed=seed, data=f"video weights of {folder.name}, head new"),
    )
