"""An episode on a fixed grid of times, as training wants it: at each time the newest of everything there was.

The rule is that of the planner (`robot_client.newest`), so a policy is trained on what it will be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.episodes.formats.base import EpisodeSource
from robot_client.episodes.formats.entries import Driver, Entry, Instruction, Joints, Picture
from robot_client.newest import Newest, Unfit

DRIVEN: Final = frozenset({"HANDOFF", "POLICY", "TELEOP", "REPLAY", "EXTERNAL"})
"""Modes that are the task; parking and standing are not."""
MAX_AGE_NS: Final = 500 * NS_PER_MS
"""A stream that gave nothing for this long has ended or hangs: there is no sample then, never a frozen one."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One time of the grid."""

    time_s: float
    """From the first sample of its stretch."""
    stretch: int
    """Number of the stretch without a break that it belongs to, from 0."""
    state: NDArray[np.float32]
    """(14,) measured, contract's layout."""
    action: NDArray[np.float32]
    """(14,) told: what the arms really got."""
    images: dict[str, NDArray[np.uint8]]
    """Camera role -> (H, W, 3) RGB."""
    source: str
    """Who drove: the recorded control source."""
    intervention: tuple[str, ...]
    """Arms that a person moved in place of the policy."""
    instruction: str
    stamps_ns: dict[str, int]
    """Stamp of what was taken: camera roles, `measured` and `told`."""


class Sampler:
    """Streams the samples of every stretch in which a source drove the arms and nothing was missing."""

    def __init__(
        self, source: EpisodeSource, roles: Sequence[str], rate_hz: float, max_age_ns: int = MAX_AGE_NS
    ) -> None:
        self._source, self._roles, self._rate_hz, self._max_age_ns = source, roles, rate_hz, max_age_ns
        self._newest: Newest[NDArray | Callable[[], NDArray[np.uint8]]] = Newest()
        self._driver = Driver(0, "OFF", "")
        self._instruction = ""
        self._start_ns: int | None = None
        self._count, self._stretch = 0, -1
        self.breaks: list[str] = []
        """Why a stretch ended, where it was not that nobody drove any more."""

    def samples(self) -> Iterator[Sample]:
        """Nothing when the arms were never driven or a camera gave no frame."""
        for entry in self._source.entries(self._roles):
            yield from self._before(entry.stamp_ns)
            self._take(entry)
            if self._start_ns is None and self._driven and not isinstance(self._found(entry.stamp_ns), Unfit):
                self._start_ns, self._count = entry.stamp_ns, 0
                self._stretch += 1

    @property
    def _driven(self) -> bool:
        return self._driver.mode in DRIVEN

    def _before(self, stamp_ns: int) -> Iterator[Sample]:
        """The grid's times up to here: everything that was true before them is known."""
        while self._start_ns is not None:
            due_ns = self._start_ns + round(self._count * NS_PER_S / self._rate_hz)
            if due_ns >= stamp_ns:
                return
            sample = self._sample(due_ns)
            if sample is None:
                return
            yield sample
            self._count += 1

    def _sample(self, due_ns: int) -> Sample | None:
        found = self._found(due_ns)
        if isinstance(found, Unfit):
            self.breaks.append(f"after {self._count} samples: {found}")
            self._start_ns = None
            return None
        values = {name: stamped.value for name, stamped in found.items()}
        return Sample(
            time_s=self._count / self._rate_hz,
            stretch=self._stretch,
            state=np.asarray(values.pop("measured"), np.float32),
            action=np.asarray(values.pop("told"), np.float32),
            images={role: rgb() for role, rgb in values.items() if callable(rgb)},
            source=self._driver.source,
            intervention=self._driver.intervention,
            instruction=self._instruction,
            stamps_ns={name: stamped.stamp_ns for name, stamped in found.items()},
        )

    def _found(self, now_ns: int) -> dict | Unfit:
        return self._newest.at(("measured", "told", *self._roles), now_ns, self._max_age_ns)

    def _take(self, entry: Entry) -> None:
        if isinstance(entry, Picture):
            self._newest.take(entry.role, entry.stamp_ns, entry.rgb)
        elif isinstance(entry, Joints):
            self._newest.take(entry.kind, entry.stamp_ns, entry.values)
        elif isinstance(entry, Instruction):
            self._instruction = entry.text
        elif isinstance(entry, Driver):
            self._driver = entry
            if not self._driven:
                self._start_ns = None
