"""Instruction encoders: token numbers to text tokens. Token 0 is the null instruction."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from policy_server.model.attention import MASKED, attend, merge_heads, split_heads
from policy_server.model.config import TextConfig


class InstructionEncoder(nn.Module, ABC):
    """Interface: tokens (B, W) int64 -> text (B, L, Dt); token 0 is padding."""

    @abstractmethod
    def forward(self, tokens: Tensor) -> Tensor:
        """The text tokens."""


class WordEncoder(InstructionEncoder):
    """Learned words in order, mixed once by self-attention so that each token knows its sentence; W = L."""

    def __init__(self, config: TextConfig) -> None:
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.words = nn.Embedding(len(config.vocabulary) + 1, width)
        self.places = nn.Parameter(torch.randn(config.length, width) * 0.5)
        self.norm_mix = nn.LayerNorm(width)
        self.mix = nn.Linear(width, 3 * width)
        self.mixed = nn.Linear(width, width)
        self.norm_out = nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, L) int64 -> (B, L, Dt); padding gives zero tokens."""
        present = (tokens > 0).to(self.places.dtype)
        text = self.words(tokens) + self.places
        query, key, value = (split_heads(part, self.heads) for part in self.mix(self.norm_mix(text)).chunk(3, -1))
        text = text + self.mixed(merge_heads(attend(query, key, value, (1 - present)[:, None, None, :] * MASKED)))
        text = text + self.feed(self.norm_out(text))
        return text * present[..., None]


class CachedInstructions(InstructionEncoder):
    """Stored embeddings of whole sentences, taken after Cosmos' `crossattn_proj` (1 MB each instead of 100); W = 1."""

    table: Tensor

    def __init__(self, config: TextConfig) -> None:
        super().__init__()
        shape = (len(config.vocabulary) + 1, config.length, config.width)
        self.register_buffer("table", torch.zeros(shape))

    def store(self, sentence: int, embedding: Tensor) -> None:
        """Keep the (L, Dt) embedding of vocabulary item `sentence`."""
        self.table[sentence + 1] = embedding

    def store_null(self, embedding: Tensor) -> None:
        """Keep the (L, Dt) embedding of the null instruction; until then it is all zeros."""
        self.table[0] = embedding

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, 1) int64 -> (B, L, Dt)."""
        return self.table[tokens[:, 0]]


def build_instruction_encoder(config: TextConfig) -> InstructionEncoder:
    """The encoder that the configuration names."""
    return WordEncoder(config) if config.kind == "words" else CachedInstructions(config)


def tokens_per_instruction(config: TextConfig) -> int:
    """W: token numbers per instruction, `max_words` of the manifest."""
    return config.length if config.kind == "words" else 1
