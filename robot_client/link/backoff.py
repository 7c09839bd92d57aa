"""Growing, bounded pauses between attempts to connect."""

from __future__ import annotations

from typing import Final

FIRST_NS: Final = 50_000_000
LONGEST_NS: Final = 1_000_000_000


class Backoff:
    """50 ms, 100 ms, ... up to 1 s; a success starts over."""

    def __init__(self) -> None:
        self._next_ns = FIRST_NS

    def pause_ns(self) -> int:
        """How long to wait before the next attempt."""
        pause_ns, self._next_ns = self._next_ns, min(LONGEST_NS, 2 * self._next_ns)
        return pause_ns

    def reset(self) -> None:
        """The connection works."""
        self._next_ns = FIRST_NS
