"""Action head 1: a pre-norm flow-matching transformer over action tokens.

Every layer attends to the action rows themselves, then to video, text and state tokens. Values of the second attention
carry two more columns, 1 where the key is a token of the current frame (C) and 1 where of a later one (F): what comes
out in them is exactly the attention mass of each row on C and F, through any kernel, at the price of two columns.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from policy_server.model.attention import MASKED, RootMeanSquareNorm, attend, merge_heads, split_heads
from policy_server.model.config import HeadConfig, ModelConfig
from policy_server.model.flow import sinusoid, velocity_of
from policy_server.model.head import ActionHead
from policy_server.model.padded_heads import INDICATORS, attend_wide, widen, widen_keys
from policy_server.model.token_places import TokenPlaces, indicators

STATE_TOKENS = 2


class Memory(nn.Module):
    """Video, text and state tokens of one width: (B, M, d), video first."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.head.width
        self.norm_video = nn.LayerNorm(config.backbone.width, elementwise_affine=False)
        self.video = nn.Linear(config.backbone.width, width)
        self.places = TokenPlaces(config.token_grid, width)
        self.text = nn.Linear(config.text.width, width)
        self.state = nn.Linear(config.head.actions, STATE_TOKENS * width)
        self.norm = RootMeanSquareNorm(width)

    def forward(self, features: Tensor, text: Tensor, state: Tensor) -> Tensor:
        video = self.video(self.norm_video(features)) + self.places()[: features.shape[1]]
        own = self.state(state).unflatten(-1, (STATE_TOKENS, -1))
        return self.norm(torch.cat([video, self.text(text), own], dim=1))


class Modulation(nn.Module):
    """Per row and layer, from the row's time: shift, scale and gate of the three sublayers, near identity at start."""

    def __init__(self, time_width: int, width: int) -> None:
        super().__init__()
        self.project = nn.Linear(time_width, 9 * width)
        nn.init.normal_(self.project.weight, std=0.02)
        nn.init.zeros_(self.project.bias)

    def forward(self, time: Tensor) -> tuple[Tensor, ...]:
        return self.project(time).chunk(9, -1)


class FlowLayer(nn.Module):
    """Self-attention over rows, cross-attention to the memory, feed-forward."""

    def __init__(self, config: HeadConfig) -> None:
        super().__init__()
        width, inner = config.width, config.heads * config.head_dim
        self.heads = config.heads
        self.modulation = Modulation(config.time_width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width, elementwise_affine=False) for _ in range(3))
        self.own = nn.Linear(width, 3 * inner)
        self.own_out = nn.Linear(inner, width)
        self.query = nn.Linear(width, inner)
        self.key = nn.Linear(width, inner)
        self.value = nn.Linear(width, inner)
        self.norm_query = RootMeanSquareNorm(config.head_dim)
        self.norm_key = RootMeanSquareNorm(config.head_dim)
        self.cross_out = nn.Linear(inner, width)
        hidden = int(config.mlp_ratio * width)
        self.feed = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))

    def read(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (B, heads, M, d) of this layer."""
        key = self.norm_key(split_heads(self.key(memory), self.heads))
        return key, split_heads(self.value(memory), self.heads)

    def forward(
        self, rows: Tensor, time: Tensor, key: Tensor, value: Tensor, bias: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """rows (B, H, d) -> rows, and what lies in the extra columns of `value`: (B, heads, H, 0 or 2).

        Without `bias` keys and values are widened ones (policy_server.model.padded_heads).
        """
        parts = self.modulation(time)
        inputs = self._modulated(0, rows, parts)
        own = attend(*(split_heads(part, self.heads) for part in self.own(inputs).chunk(3, -1)))
        rows = rows + (1 + parts[2]) * self.own_out(merge_heads(own))
        query = self.norm_query(split_heads(self.query(self._modulated(1, rows, parts)), self.heads))
        seen, masses = _seen(query, key, value, bias)
        rows = rows + (1 + parts[5]) * self.cross_out(merge_heads(seen))
        rows = rows + (1 + parts[8]) * self.feed(self._modulated(2, rows, parts))
        return rows, masses

    def _modulated(self, sublayer: int, rows: Tensor, parts: tuple[Tensor, ...]) -> Tensor:
        shift, scale = parts[3 * sublayer], parts[3 * sublayer + 1]
        return self.norms[sublayer](rows) * (1 + scale) + shift


def _seen(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    """Attended values (B, heads, H, d) and masses (B, heads, H, 0 or 2)."""
    if bias is None:
        return attend_wide(query, key, value)
    seen, width = attend(query, key, value, bias), key.shape[-1]
    return seen[..., :width], seen[..., width:]


class FlowTransformerHead(ActionHead):
    """`ActionHead`: keys and values are made once per replan, rows attend to them at every flow step."""

    masses_from = "action_step"
    columns: Tensor
    layers: Any

    def __init__(self, config: ModelConfig, with_masses: bool = True) -> None:
        super().__init__()
        head = config.head
        self.with_masses = with_masses
        self.fused = head.kernel == "fused"
        self.step_inputs = ("keys", "values") if self.fused else ("keys", "values", "key_bias")
        self.context_outputs = self.step_inputs
        self.time_width = head.time_width
        self.memory = Memory(config)
        self.row = nn.Linear(head.actions, head.width)
        places = sinusoid(torch.linspace(0.0, 1.0, head.horizon), head.width, 0.25, head.horizon / 16)
        self.row_places = nn.Parameter(places)
        self.time = nn.Sequential(nn.Linear(head.time_width, head.time_width), nn.SiLU())
        self.layers = nn.ModuleList(FlowLayer(head) for _ in range(head.layers))
        self.norm_out = nn.LayerNorm(head.width)
        self.out = nn.Linear(head.width, head.actions)
        others = config.text.length + STATE_TOKENS
        columns = torch.cat([indicators(config.token_grid), torch.zeros(others, 2)])
        self.register_buffer("columns", columns, persistent=False)
        self.others = others

    def context(self, features: Tensor, text: Tensor, state: Tensor, future_keep: Tensor) -> tuple[Tensor, ...]:
        """Keys (B, layers, heads, M, d), values (B, layers, heads, M, d + 2), key_bias (B, 1, 1, M).

        With the fused kernel keys and values of its width, and no bias: the keys carry it.
        """
        memory = self.memory(features, text, state)
        read = [layer.read(memory) for layer in self.layers]
        keys, values = (torch.stack(parts, 1) for parts in zip(*read, strict=True))
        columns = torch.cat([self.columns[: features.shape[1]], self.columns[-self.others :]])
        hidden = (1 - future_keep)[:, None] * columns[:, 1]
        if self.fused:
            return widen_keys(keys, hidden), widen(values, columns if self.with_masses else columns[:, :0])
        if self.with_masses:
            values = torch.cat([values, columns.expand(*values.shape[:-1], INDICATORS)], -1)
        return keys, values, (hidden * MASKED)[:, None, None, :]

    def action_step(self, rows: Tensor, times: Tensor, *memory: Tensor) -> tuple[Tensor, ...]:
        keys, values, *bias = memory
        key_bias = bias[0] if bias else None
        hidden = self.row(rows) + self.row_places[: rows.shape[1]]
        time = self.time(sinusoid(times, self.time_width, 0.25, 16.0))
        masses = []
        for i, layer in enumerate(self.layers):
            hidden, mass = layer(hidden, time, keys[:, i], values[:, i], key_bias)
            masses.append(mass)
        velocity = velocity_of(self.out(self.norm_out(hidden)), rows, times[..., None])
        return (velocity, torch.stack(masses, 1)) if self.with_masses else (velocity,)
