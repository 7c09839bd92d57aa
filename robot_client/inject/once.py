"""Which faults are there now: once an engagement, or as long as they last."""

from __future__ import annotations

from robot_client.inject.fault import Fault


class Occurrence:
    """Remembers what has happened in the present engagement."""

    def __init__(self) -> None:
        self._spent: dict[str, int] = {}

    def now(self, fault: Fault, elapsed_s: float | None, engagement: int) -> bool:
        """Whether the fault happens now; one that happens once is spent with that."""
        if fault.length_s > 0.0:
            return fault.lasts(elapsed_s)
        if elapsed_s is None or elapsed_s < fault.at_s or self._spent.get(fault.text) == engagement:
            return False
        self._spent[fault.text] = engagement
        return True
