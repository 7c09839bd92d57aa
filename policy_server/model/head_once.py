"""Action head 2: read the video once, then let a residual MLP do the flow.

One query per action row and head, to which language and state add what they ask for, attends once, in `context`, to
video tokens that they have modulated (FiLM). It reads out attended values and, in further columns, the attended
coordinates (an explicit soft-argmax) and the masses on C and F. So the Temporal Ratio is known before the first flow
step.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from policy_server.model.attention import MASKED, RootMeanSquareNorm, split_heads
from policy_server.model.config import ModelConfig
from policy_server.model.flow import sinusoid, velocity_of
from policy_server.model.head import ActionHead
from policy_server.model.token_places import TokenPlaces, coordinates, indicators

COORDINATES = 3
_SHARP = 2.0
"""Queries start this strong, so that each looks at some tokens more than at others from the first step on."""
_ASK = 0.05
"""Start of what language and state add to the queries: about as much as the queries themselves."""


class TextPool(nn.Module):
    """Text tokens (B, L, Dt) to one vector (B, heads * Dt): learned sums over places; the null text gives zeros.

    They start as the first words themselves, so short instructions arrive whole. Attention with learned queries, tried
    first, blurred the words, and after 60,000 samples the policy still did not listen to them.
    """

    def __init__(self, length: int, heads: int) -> None:
        super().__init__()
        self.places = nn.Parameter(torch.eye(heads, length))

    def forward(self, text: Tensor) -> Tensor:
        return (self.places @ text).flatten(1)


class Reader(nn.Module):
    """The one attention: (B, N, D) features to (B, H * heads * (d + 3)) read-outs and (B, 1, heads, H, 2) masses."""

    columns: Tensor
    future: Tensor

    def __init__(self, config: ModelConfig, condition: int, with_masses: bool) -> None:
        super().__init__()
        head, width = config.head, config.backbone.width
        inner = head.heads * head.head_dim
        self.heads, self.head_dim = head.heads, head.head_dim
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.film = nn.Linear(condition, 2 * width)
        nn.init.normal_(self.film.weight, std=0.02)
        nn.init.zeros_(self.film.bias)
        self.places = TokenPlaces(config.token_grid, width)
        self.query = nn.Parameter(torch.randn(head.heads, head.horizon, head.head_dim))
        self.ask = nn.Linear(condition, inner)
        nn.init.normal_(self.ask.weight, std=_ASK)
        self.key = nn.Linear(width, inner)
        self.value = nn.Linear(width, inner)
        self.norm_query = RootMeanSquareNorm(head.head_dim)
        self.norm_key = RootMeanSquareNorm(head.head_dim)
        nn.init.constant_(self.norm_query.gain, _SHARP)
        parts = [coordinates(config.token_grid)] + ([indicators(config.token_grid)] if with_masses else [])
        self.register_buffer("columns", torch.cat(parts, -1), persistent=False)
        self.register_buffer("future", indicators(config.token_grid)[:, 1], persistent=False)

    def forward(self, features: Tensor, condition: Tensor, future_keep: Tensor) -> tuple[Tensor, Tensor]:
        tokens = self._tokens(features, condition)
        value = split_heads(self.value(tokens), self.heads)
        columns = self.columns[: tokens.shape[1]].expand(*value.shape[:-1], -1)
        weights = self._logits(tokens, condition, future_keep).softmax(-1)
        seen = weights @ torch.cat([value, columns], -1)
        read = self.head_dim + COORDINATES
        return seen[..., :read].flatten(1), seen[..., read:].unsqueeze(1)

    def logits(self, features: Tensor, condition: Tensor, future_keep: Tensor) -> Tensor:
        """(B, heads, H, N) of the one attention, before softmax: where each query looks, for losses on that."""
        return self._logits(self._tokens(features, condition), condition, future_keep)

    def _tokens(self, features: Tensor, condition: Tensor) -> Tensor:
        scale, shift = self.film(condition)[:, None].chunk(2, -1)
        return self.norm(features) * (1 + scale) + shift

    def _logits(self, tokens: Tensor, condition: Tensor, future_keep: Tensor) -> Tensor:
        count = tokens.shape[1]
        key = self.norm_key(split_heads(self.key(tokens + self.places()[:count]), self.heads))
        query = self.norm_query(self.query + self.ask(condition).unflatten(1, (self.heads, 1, self.head_dim)))
        bias = ((1 - future_keep)[:, None] * self.future[:count] * MASKED)[:, None, None, :]
        return (query * self.head_dim**-0.5) @ key.transpose(-1, -2) + bias


class ResidualBlock(nn.Module):
    """x + W2 silu(W1 norm(x) + condition)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inward = nn.Linear(width, width)
        self.outward = nn.Linear(width, width)

    def forward(self, hidden: Tensor, condition: Tensor) -> Tensor:
        return hidden + self.outward(nn.functional.silu(self.inward(self.norm(hidden)) + condition))


class ReadOnceHead(ActionHead):
    """`ActionHead`: `memory` holds all that was read; `masses` come from `context`."""

    step_inputs = ("memory",)
    masses_from = "context"

    def __init__(self, config: ModelConfig, with_masses: bool = True) -> None:
        super().__init__()
        head = config.head
        self.with_masses = with_masses
        self.context_outputs = ("memory", "masses") if with_masses else ("memory",)
        self.time_width = head.time_width
        hears = config.text.reaches == "everything"
        condition = (head.heads * config.text.width if hears else 0) + head.actions
        self.pool = TextPool(config.text.length, head.heads) if hears else None
        self.reader = Reader(config, condition, with_masses)
        read = head.horizon * head.heads * (head.head_dim + COORDINATES)
        self.digest = nn.Sequential(nn.Linear(read + condition, head.width), nn.SiLU())
        self.rows = nn.Linear(head.horizon * head.actions, head.width)
        self.times = nn.Linear(head.horizon * head.time_width, head.width)
        self.blocks = nn.ModuleList(ResidualBlock(head.width) for _ in range(head.layers))
        self.norm_out = nn.LayerNorm(head.width)
        self.out = nn.Linear(head.width, head.horizon * head.actions)

    def context(self, features: Tensor, text: Tensor, state: Tensor, future_keep: Tensor) -> tuple[Tensor, ...]:
        """memory (B, width), masses (B, 1, heads, H, 2)."""
        condition = self.condition(text, state)
        read, masses = self.reader(features, condition, future_keep)
        memory = self.digest(torch.cat([read, condition], -1))
        return (memory, masses) if self.with_masses else (memory,)

    def condition(self, text: Tensor, state: Tensor) -> Tensor:
        """Language, if the head hears it, and state (B, heads * Dt + 14 or 14), as queries and modulation take them."""
        return state if self.pool is None else torch.cat([self.pool(text), state], -1)

    def action_step(self, rows: Tensor, times: Tensor, *memory: Tensor) -> tuple[Tensor, ...]:
        (digest,) = memory
        time = self.times(sinusoid(times, self.time_width, 0.25, 16.0).flatten(1))
        hidden = self.rows(rows.flatten(1)) + time + digest
        for block in self.blocks:
            hidden = block(hidden, time + digest)
        data = self.out(self.norm_out(hidden)).unflatten(1, rows.shape[1:])
        return (velocity_of(data, rows, times[..., None]),)
