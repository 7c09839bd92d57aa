"""Lines of the server's log: an event and its facts as key=value, one line each, and few of those that repeat."""

from __future__ import annotations

import json
import re
from typing import Final

_PLAIN: Final = re.compile(r"[\w.:/+-]+", re.ASCII)
_LONGEST: Final = 300
_KINDS: Final = 64


def log_line(event: str, **facts: object) -> str:
    """`event key=value ...`. Whatever is no plain word is quoted and escaped: no client writes lines of ours."""
    return " ".join((event, *(f"{name}={_value(fact)}" for name, fact in facts.items())))


def _value(fact: object) -> str:
    text = str(fact)[:_LONGEST]
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


class Seldom:
    """Of every kind of event the 1st, 2nd, 4th, 8th ...: a flood may not fill the log. 64 kinds are told apart."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def count(self, kind: str) -> int | None:
        """How often it happened so far, when that is worth a line; None when it is not."""
        if kind not in self._counts and len(self._counts) >= _KINDS:
            kind = "others"
        self._counts[kind] = number = self._counts.get(kind, 0) + 1
        return number if number & (number - 1) == 0 else None
