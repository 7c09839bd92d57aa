"""The video model: diffusers' CosmosTransformer3DModel, with per-frame time, an anchored first frame and a tap.

The weights are those of diffusers' module, so a Cosmos-Predict2.5 transformer loads unchanged; the pass through them is
written out here because features are taken after a block, time conditioning is cheaper per frame than per token, and
the padding mask would need torchvision. A test compares it with diffusers' module called as its own pipeline calls it.
"""

from __future__ import annotations

from typing import Any

import torch
from diffusers import CosmosTransformer3DModel
from torch import Tensor, nn

from policy_server.model.attention import MASKED, CosmosAttention
from policy_server.model.config import BackboneConfig

CONDITION_AND_PADDING = 2
"""Channels beside the latent: 1 where a frame is given, and Cosmos' padding mask, which is all zeros."""


Grid = tuple[int, int, int]


def build_transformer(config: BackboneConfig, channels: int, text_width: int, grid: Grid) -> CosmosTransformer3DModel:
    """diffusers' transformer; `concat_padding_mask` is done outside, which only moves one input channel."""
    return CosmosTransformer3DModel(
        in_channels=channels + CONDITION_AND_PADDING,
        out_channels=channels,
        num_attention_heads=config.heads,
        attention_head_dim=config.head_dim,
        num_layers=config.layers,
        mlp_ratio=config.mlp_ratio,
        text_embed_dim=text_width,
        adaln_lora_dim=config.adaln_lora_dim,
        max_size=(grid[0], grid[1] * config.patch[1], grid[2] * config.patch[2]),
        patch_size=config.patch,
        rope_scale=config.rope_scale,
        concat_padding_mask=False,
        extra_pos_embed_type="learnable" if config.extra_pos_embed == "learnable" else None,
    )


class CosmosBackbone(nn.Module):
    """Latents with their times and text to velocity, or to hidden states after the tapped block."""

    dit: Any
    rope_cosine: Tensor
    rope_sine: Tensor
    causal_bias: Tensor

    def __init__(
        self, config: BackboneConfig, channels: int, text_width: int, grid: Grid, deaf_frames: int = 0
    ) -> None:
        """`deaf_frames`: the first so many latent frames do not hear the text (TextConfig.reaches)."""
        super().__init__()
        self.config = config
        self.deaf_frames = deaf_frames
        self.grid = grid
        self.dit = build_transformer(config, channels, text_width, grid)
        for block in self.dit.transformer_blocks:
            block.attn1.set_processor(CosmosAttention(config.kernel))
            block.attn2.set_processor(CosmosAttention(config.kernel))
        frames, rows, columns = grid
        shape = torch.empty(1, 1, frames, rows * config.patch[1], columns * config.patch[2])
        cosine, sine = self.dit.rope(shape)
        self.register_buffer("rope_cosine", cosine, persistent=False)
        self.register_buffer("rope_sine", sine, persistent=False)
        if config.attention == "frame_causal":
            self.register_buffer("causal_bias", frame_causal_bias(grid), persistent=False)

    def velocity(self, latents: Tensor, timesteps: Tensor, text: Tensor) -> Tensor:
        """noise - data at every cell.

        latents (B, C, T, h, w), timesteps (B, T) noise levels, text (B, L, Dt) -> (B, C, T, h, w). Frame 0's is to be
        ignored: that frame is given.
        """
        hidden, emb, temb, _ = self._run(latents, timesteps, text, self.config.layers)
        return self._unpatch(self.dit.proj_out(self.dit.norm_out(hidden, emb, temb)))

    def features(self, latents: Tensor, timesteps: Tensor, text: Tensor) -> Tensor:
        """Hidden states (B, N, D) after the tapped block, frame-major; inputs as for `velocity`."""
        return self._run(latents, timesteps, text, self.config.tap_block + 1)[3].flatten(1, 2)

    def both(self, latents: Tensor, timesteps: Tensor, text: Tensor) -> tuple[Tensor, Tensor]:
        """`features` and `velocity` of one pass, for training on both."""
        hidden, emb, temb, tapped = self._run(latents, timesteps, text, self.config.layers)
        return tapped.flatten(1, 2), self._unpatch(self.dit.proj_out(self.dit.norm_out(hidden, emb, temb)))

    def _run(self, latents: Tensor, timesteps: Tensor, text: Tensor, blocks: int) -> tuple[Tensor, ...]:
        """Hidden states after `blocks` blocks, the two time embeddings, hidden states after the tapped block."""
        shown = hide_current_only(latents, self.config.current_only_channels)
        hidden = self.dit.patch_embed(with_masks(shown)).flatten(2, 3)
        temb, emb = self.dit.time_embed(hidden, timesteps.flatten())
        # One row per frame, (B, T, 1, .), broadcasts over the frame's tokens in every AdaLN.
        temb, emb = (x.unflatten(0, (-1, timesteps.shape[1])).unsqueeze(2) for x in (temb, emb))
        tokens = hidden.shape[1] * hidden.shape[2]
        rope = (self.rope_cosine[:tokens], self.rope_sine[:tokens])
        mask = self.causal_bias[:tokens, :tokens] if self.config.attention == "frame_causal" else None
        extra = self.dit.learnable_pos_embed(latents[:1]) if self.dit.learnable_pos_embed is not None else None
        tapped = hidden
        for number, block in enumerate(self.dit.transformer_blocks[:blocks]):
            if extra is not None:
                hidden = hidden + extra.unflatten(1, hidden.shape[1:3])
            hidden = run_block(block, hidden, text, emb, temb, rope, mask, self.deaf_frames)
            if number == self.config.tap_block:
                tapped = hidden
        return hidden, emb, temb, tapped

    def _unpatch(self, patches: Tensor) -> Tensor:
        """(B, T, S, p_h * p_w * C) -> (B, C, T, h, w), in the order diffusers uses."""
        _, high, wide = self.config.patch
        cells = patches.unflatten(3, (high, wide, -1)).unflatten(2, self.grid[1:])
        return cells.permute(0, 6, 1, 2, 4, 3, 5).flatten(5, 6).flatten(3, 4)


def hide_current_only(latents: Tensor, channels: int) -> Tensor:
    """Latents (B, C, T, h, w) with the last `channels` zero in all frames but the first."""
    if channels == 0 or latents.shape[2] == 1:
        return latents
    own = latents[:, -channels:]
    own = torch.cat([own[:, :, :1], torch.zeros_like(own[:, :, 1:])], dim=2)
    return torch.cat([latents[:, :-channels], own], dim=1)


def with_masks(latents: Tensor) -> Tensor:
    """Latents (B, C, T, h, w) with the condition channel (1 on frame 0) and the zero padding channel."""
    first = torch.zeros_like(latents[:, :1])
    condition = torch.cat([torch.ones_like(first[:, :, :1]), first[:, :, 1:]], dim=2)
    return torch.cat([latents, condition, first], dim=1)


def run_block(
    block: Any,
    hidden: Tensor,
    text: Tensor,
    emb: Tensor,
    temb: Tensor,
    rope: tuple[Tensor, Tensor],
    mask: Tensor | None,
    deaf_frames: int = 0,
) -> Tensor:
    """One CosmosTransformerBlock on (B, T, S, D) tokens with per-frame time (B, T, 1, .)."""
    frames = hidden.shape[1:3]
    normed, gate = block.norm1(hidden, emb, temb)
    attended = block.attn1(normed.flatten(1, 2), attention_mask=mask, image_rotary_emb=rope)
    hidden = hidden + gate * attended.unflatten(1, frames)
    if frames[0] > deaf_frames:
        normed, gate = block.norm2(hidden, emb, temb)
        hidden = hidden + gate * listen(block.attn2, normed, text, deaf_frames)
    normed, gate = block.norm3(hidden, emb, temb)
    return hidden + gate * block.ff(normed)


def listen(attention: Any, tokens: Tensor, text: Tensor, deaf_frames: int) -> Tensor:
    """What text (B, L, Dt) adds to tokens (B, T, S, D): nothing in the first `deaf_frames`, as the null text would."""
    heard = tokens[:, deaf_frames:]
    told = attention(heard.flatten(1, 2), encoder_hidden_states=text).unflatten(1, heard.shape[1:3])
    return torch.cat([torch.zeros_like(told[:, :1]).expand(-1, deaf_frames, -1, -1), told], 1) if deaf_frames else told


def frame_causal_bias(grid: Grid) -> Tensor:
    """(N, N): 0 where a token may look, MASKED where the key's frame is later than the query's."""
    frame = torch.arange(grid[0]).repeat_interleave(grid[1] * grid[2])
    return torch.where(frame[None, :] > frame[:, None], MASKED, 0.0)
