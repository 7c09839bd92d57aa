"""Running numbers of what a sender tried to send: the receiver sees every gap, whoever lost it."""

from __future__ import annotations


class Gaps:
    """Counts numbers that never came. They start at 0 and only rise."""

    def __init__(self) -> None:
        self._next = 0
        self.missing = 0

    def came(self, first: int, count: int = 1) -> None:
        """`count` numbers from `first` have arrived."""
        self.missing += max(0, first - self._next)
        self._next = max(self._next, first + count)
