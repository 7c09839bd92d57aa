"""Instruction to text tokens, computed once per instruction and kept."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from numpy.typing import NDArray

from contract.architecture import Text
from policy_server.stages import Stages, Stopwatch
from policy_server.words import Words

KEPT: Final = 32
"""Instructions kept; the one used longest ago goes first."""


class TextContexts:
    """Text tokens (1, L, Dt) by instruction. Keeping them alters no answer: same words, same tokens."""

    def __init__(self, text: Text, stages: Stages) -> None:
        self._words = Words(text.kind, text.vocabulary, text.max_words)
        self._stages = stages
        self._kept: OrderedDict[bytes, NDArray] = OrderedDict()

    def encode(self, instruction: str, watch: Stopwatch) -> NDArray:
        """Text tokens of an instruction; raises `VocabularyError` listing the known words."""
        return self._encode(self._words.tokens(instruction), watch)

    def null(self, watch: Stopwatch) -> NDArray:
        """Text tokens of the null instruction."""
        return self._encode(self._words.null(), watch)

    def _encode(self, tokens: NDArray, watch: Stopwatch) -> NDArray:
        key = tokens.tobytes()
        if key not in self._kept:
            self._kept[key] = self._stages.run("text", {"tokens": tokens}, watch)["text"]
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return self._kept[key]
