"""When an image was captured, on this host's monotonic clock."""

from __future__ import annotations

from collections import Counter, deque
from typing import Final, Literal

from robot_client.cameras.source import Captured
from robot_client.clock import NS_PER_MS

How = Literal["device", "mapped", "arrival"]
"""By the device on this host's clock; by the device's own clock, mapped; arrival less the calibrated latency."""

OLDEST_NS: Final = 1_000 * NS_PER_MS
"""A stamp that lies further before arrival is not believed."""
JUMP_NS: Final = 200 * NS_PER_MS
"""A device clock that moves this much against ours has jumped."""
WINDOW: Final = 300
"""Frames whose fastest way here gives the offset between the clocks (10 s at 30 Hz)."""


class StampMap:
    """One camera's stamps. `counts` has how many were made in which way, and "jumps".

    A device's own clock is mapped by the smallest difference to arrival among the last frames: the frame that came
    fastest took `latency_ns`, and what others took more is delay on the way, which the device's stamp does not have.
    """

    def __init__(self, latency_ns: int) -> None:
        self._latency_ns = latency_ns
        self._offsets: deque[int] = deque(maxlen=WINDOW)
        self._last_ns = 0
        self.counts: Counter[str] = Counter()

    def stamp(self, captured: Captured) -> tuple[int, How]:
        """Capture time [ns] and how it is known; never after arrival."""
        at_ns, how = self._stamp(captured)
        self.counts[how] += 1
        return min(at_ns, captured.arrival_ns), how

    def _stamp(self, captured: Captured) -> tuple[int, How]:
        device_ns = captured.device_ns
        fallback = captured.arrival_ns - self._latency_ns
        if device_ns is None:
            return fallback, "arrival"
        if captured.clock == "host":
            age_ns = captured.arrival_ns - device_ns
            believed = 0 <= age_ns <= OLDEST_NS
            self.counts["jumps"] += not believed
            return (device_ns, "device") if believed else (fallback, "arrival")
        return self._mapped(device_ns, captured.arrival_ns, fallback)

    def _mapped(self, device_ns: int, arrival_ns: int, fallback: int) -> tuple[int, How]:
        offset_ns = arrival_ns - device_ns
        jumped = device_ns <= self._last_ns or self._strays(offset_ns)
        self._last_ns = device_ns
        if jumped:
            self.counts["jumps"] += 1
            self._offsets.clear()
        self._offsets.append(offset_ns)
        if jumped:
            return fallback, "arrival"
        return device_ns + min(self._offsets) - self._latency_ns, "mapped"

    def _strays(self, offset_ns: int) -> bool:
        return bool(self._offsets) and abs(offset_ns - min(self._offsets)) > JUMP_NS
