"""A pipeline folder in diffusers' layout: what it holds and what sizes it asks for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contract.errors import BundleError
from policy_server.model.config import BackboneConfig, LatentConfig

CONDITION_AND_PADDING: Final = 2
"""Input channels of the transformer beside the latent: condition mask and padding mask."""
_REMEDY: Final = "download the whole pipeline, for example with huggingface-cli download, and name its folder"


@dataclass(frozen=True, slots=True)
class CosmosFolder:
    """`transformer/`, `vae/` and, for embedding instructions, `text_encoder/` and `tokenizer/`."""

    path: Path

    @property
    def transformer(self) -> Path:
        """Folder of CosmosTransformer3DModel."""
        return self.path / "transformer"

    @property
    def vae(self) -> Path:
        """Folder of AutoencoderKLWan."""
        return self.path / "vae"

    def config(self, part: str) -> dict[str, Any]:
        """`PART/config.json`. Raises `BundleError` naming the file."""
        path = self.path / part / "config.json"
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BundleError(f"{path}", expected="a diffusers config", got=error, remedy=_REMEDY) from error
        if not isinstance(content, dict):
            raise BundleError(f"{path}", expected="a diffusers config", got=type(content).__name__, remedy=_REMEDY)
        return content

    def backbone(self, tap_block: int, sigma: float, passes: int) -> BackboneConfig:
        """Sizes of the transformer, and where this policy taps it. Raises `BundleError` for another transformer."""
        config = self.config("transformer")
        _require(config, "_class_name", ("CosmosTransformer3DModel",), self.transformer)
        _require(config, "img_context_dim_in", (None, 0), self.transformer)
        _require(config, "controlnet_block_every_n", (None,), self.transformer)
        return BackboneConfig(
            layers=config["num_layers"],
            heads=config["num_attention_heads"],
            head_dim=config["attention_head_dim"],
            patch=tuple(config["patch_size"]),
            mlp_ratio=config["mlp_ratio"],
            adaln_lora_dim=config["adaln_lora_dim"],
            rope_scale=tuple(config["rope_scale"]),
            extra_pos_embed="learnable" if config["extra_pos_embed_type"] == "learnable" else "none",
            kernel="fused",
            tap_block=tap_block,
            sigma=sigma,
            passes=passes,
        )

    def latent(self, frames: int) -> LatentConfig:
        """Sizes of the autoencoder. Raises `BundleError` when the transformer was made for another one."""
        config, wanted = self.config("vae"), self.latent_channels()
        if config.get("z_dim") != wanted:
            raise BundleError(
                f"{self.vae}", expected=f"z_dim {wanted}, as the transformer takes", got=config.get("z_dim"),
                remedy=_REMEDY,
            )  # fmt: skip
        down = config["temperal_downsample"]
        kept = {"dim_mult", "num_res_blocks", "attn_scales", "temperal_downsample", "latents_mean", "latents_std"}
        return LatentConfig(
            kind="wan",
            channels=wanted,
            frames=frames,
            spatial=2 ** len(down),
            temporal=2 ** sum(down),
            width=config["base_dim"],
            vae={name: value for name, value in config.items() if name in kept},
        )

    def latent_channels(self) -> int:
        """Latent channels of the transformer: its inputs less the masks, which the folder may count or not."""
        config = self.config("transformer")
        return int(config["out_channels"])

    def text_width(self) -> int:
        """Width of a text token as the blocks' cross-attention takes it, after the projection if there is one."""
        return int(self.config("transformer")["text_embed_dim"])

    def projects_text(self) -> bool:
        """Whether the transformer has a `crossattn_proj` of its own (`use_crossattn_projection`)."""
        return bool(self.config("transformer").get("use_crossattn_projection", False))


def _require(config: dict[str, Any], key: str, allowed: tuple[Any, ...], folder: Path) -> None:
    if config.get(key) not in allowed:
        raise BundleError(
            f"{folder}, {key}", expected=allowed[0], got=config.get(key), remedy="use Cosmos-Predict2.5's base model"
        )
