"""What comes a little out of order, given out in the order of its stamps, within a bounded number of bytes."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Final, Generic, Protocol, TypeVar

from robot_client.episodes.formats.entries import Driver, Instruction, Joints

MOST_BYTES: Final = 64 * 1024 * 1024
_RANK: Final[dict[type, int]] = {Driver: 0, Instruction: 1, Joints: 2}
"""At the same stamp who drives comes first, a picture last."""


class HasStamp(Protocol):
    """Anything with a stamp."""

    @property
    def stamp_ns(self) -> int:
        """When it was true."""


Item = TypeVar("Item", bound=HasStamp)


class InOrder(Generic[Item]):
    """`put` what came, take what nothing can come before any more. Beyond `most_bytes` the oldest leave early."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._waiting: list[tuple[int, int, int, int, Item]] = []
        self._most_bytes, self._bytes, self._count = most_bytes, 0, 0

    def put(self, item: Item, size_bytes: int = 0) -> None:
        """One more, and how much memory it keeps."""
        heapq.heappush(self._waiting, (item.stamp_ns, _RANK.get(type(item), 3), self._count, size_bytes, item))
        self._bytes += size_bytes
        self._count += 1

    def until(self, stamp_ns: int) -> Iterator[Item]:
        """All with a stamp of at most `stamp_ns`."""
        while self._waiting and (self._waiting[0][0] <= stamp_ns or self._bytes > self._most_bytes):
            yield self._pop()

    def rest(self) -> Iterator[Item]:
        """All."""
        while self._waiting:
            yield self._pop()

    def _pop(self) -> Item:
        *_, size_bytes, item = heapq.heappop(self._waiting)
        self._bytes -= size_bytes
        return item
