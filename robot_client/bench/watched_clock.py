"""A clock that notes why its sleeper woke late: page faults, evictions, collections. For benches of the loop."""

from __future__ import annotations

import gc
import resource
import time
from collections import deque
from dataclasses import asdict, dataclass
from typing import Any, Final

from robot_client.clock import NS_PER_S

LATE_NS: Final = 250_000
"""Later than this is written down."""
KEPT: Final = 2000


@dataclass(frozen=True, slots=True)
class LateTick:
    """One late wake-up and what happened since the wake-up before it."""

    at_ns: int
    """When it should have been (monotonic clock)."""
    late_ns: int
    work_ns: int
    """Time between the last wake-up and going to sleep again: the tick's own work."""
    overran: bool
    """The work was not done by the deadline; else the sleep itself ended late."""
    minor_faults: int
    major_faults: int
    evictions: int
    """Times this thread was put aside although it wanted to run (involuntary context switches)."""
    waits: int
    """Times it gave the processor up; one is the sleep itself."""
    collections: int
    """Runs of the garbage collector."""


class WatchedClock:
    """CLOCK_MONOTONIC. Costs two getrusage calls a sleep, about 2 us."""

    def __init__(self, late_ns: int = LATE_NS) -> None:
        self._late_ns = late_ns
        self._woke_ns = 0
        self._before = _Usage.now()
        self.late: deque[LateTick] = deque(maxlen=KEPT)
        self.sleeps = 0
        if _count not in gc.callbacks:
            gc.callbacks.append(_count)

    def now_ns(self) -> int:
        return time.monotonic_ns()

    def sleep_until_ns(self, deadline_ns: int) -> None:
        began_ns = time.monotonic_ns()
        while (left_ns := deadline_ns - time.monotonic_ns()) > 0:
            time.sleep(left_ns / NS_PER_S)
        woke_ns = time.monotonic_ns()
        usage = _Usage.now()
        if woke_ns - deadline_ns > self._late_ns and self._woke_ns:
            self.late.append(self._note(deadline_ns, began_ns, woke_ns, usage))
        self._woke_ns, self._before = woke_ns, usage
        self.sleeps += 1

    def notes(self) -> list[dict[str, Any]]:
        """For JSON."""
        return [asdict(tick) for tick in self.late]

    def _note(self, deadline_ns: int, began_ns: int, woke_ns: int, now: _Usage) -> LateTick:
        before = self._before
        return LateTick(
            at_ns=deadline_ns,
            late_ns=woke_ns - deadline_ns,
            work_ns=began_ns - self._woke_ns,
            overran=began_ns > deadline_ns,
            minor_faults=now.minor - before.minor,
            major_faults=now.major - before.major,
            evictions=now.evicted - before.evicted,
            waits=now.waited - before.waited,
            collections=now.collections - before.collections,
        )


_collections = [0]


def _count(phase: str, info: dict[str, int]) -> None:
    _collections[0] += phase == "stop"


@dataclass(frozen=True, slots=True)
class _Usage:
    minor: int
    major: int
    evicted: int
    waited: int
    collections: int

    @staticmethod
    def now() -> _Usage:
        used = resource.getrusage(resource.RUSAGE_THREAD)
        return _Usage(used.ru_minflt, used.ru_majflt, used.ru_nivcsw, used.ru_nvcsw, _collections[0])
