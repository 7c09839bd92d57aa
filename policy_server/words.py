"""Instruction to token numbers: words for a learned encoder, whole sentences for cached embeddings. Needs no torch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contract.errors import VocabularyError

NULL = 0
"""Token of padding and the null instruction; item i of the vocabulary has token i + 1 (contract.architecture.Text)."""

_PUNCTUATION = re.compile(r"[^\w\s-]")


@dataclass(frozen=True, slots=True)
class Words:
    """The declared vocabulary of a policy."""

    kind: str
    """"words" or "cached"."""
    vocabulary: tuple[str, ...]
    max_words: int

    def tokens(self, instruction: str) -> NDArray[np.int64]:
        """Token numbers (1, max_words) int64, padded with 0; an empty instruction is the null instruction.

        Raises `VocabularyError` for words or sentences the policy does not know, listing the known ones, and for too
        many words: nothing is cut off silently.
        """
        items = self._items(instruction)
        unknown = [item for item in items if item not in self.vocabulary]
        if unknown:
            raise self._unknown(unknown)
        if len(items) > self.max_words:
            raise VocabularyError(
                "instruction", expected=f"at most {self.max_words} words", got=len(items), remedy="say it shorter"
            )
        found = [self.vocabulary.index(item) + 1 for item in items]
        return np.array([found + [NULL] * (self.max_words - len(found))], np.int64)

    def null(self) -> NDArray[np.int64]:
        """Tokens (1, max_words) of the null instruction."""
        return np.zeros((1, self.max_words), np.int64)

    def _items(self, instruction: str) -> Sequence[str]:
        if self.kind == "words":
            return plain(instruction).split()
        return [instruction.strip()] if instruction.strip() else []

    def _unknown(self, unknown: Sequence[str]) -> VocabularyError:
        what = "words" if self.kind == "words" else "instructions with a stored embedding"
        return VocabularyError(
            "instruction",
            expected=f"{what} among: {', '.join(self.vocabulary)}",
            got=", ".join(dict.fromkeys(unknown)),
            remedy=f"use known {what}",
        )


def plain(instruction: str) -> str:
    """Lower case without punctuation, single spaces."""
    return " ".join(_PUNCTUATION.sub(" ", instruction.lower()).split())
