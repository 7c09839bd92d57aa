"""Whether a driver's thread still brings readings: each puts a new object in place of the last one."""

from __future__ import annotations

from collections.abc import Hashable


class Advance:
    """Remembers of each part when it was last seen to be another object, on our own clock.

    A thread that hangs leaves its last reading in place, and whoever stamped it with the moment of looking would never
    notice.
    """

    def __init__(self) -> None:
        self._seen: dict[Hashable, tuple[object, int]] = {}

    def since_ns(self, part: Hashable, reading: object, now_ns: int) -> int:
        """When `part` brought this `reading`: now, if it is not the one of the last look."""
        last = self._seen.get(part)
        if last is None or last[0] is not reading:
            self._seen[part] = reading, now_ns
        return self._seen[part][1]
