"""A recorded episode as a source of targets: eased in, then paced by the loop's own grid, then standing."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import ConfigurationError
from contract.layout import CHANNELS
from robot_client.episodes.course import Course
from robot_client.fade import Fade, gentle_duration_ns
from robot_client.modes import Event
from robot_client.safety.limiter import at_rest
from robot_client.safety.limits import Limits
from robot_client.sources.base import Asked, Moment

_THERE: Final = 1e-6
"""Told has converged on the first target [rad]."""


class EpisodeSource:
    """Ramps from told to the first target of `course`, gives the arms to REPLAY, and asks for HOLD at the end.

    Time runs from the moment the ramp is over, `speed` (0..1] times as fast as it was; a tick that comes late asks for
    what is due then, never for what it missed. Raises `ConfigurationError` for another speed.
    """

    name = "episode"

    def __init__(self, course: Course, limits: Limits, share: float, speed: float = 1.0) -> None:
        if not 0.0 < speed <= 1.0:
            raise ConfigurationError("speed of the replay", expected="above 0, at most 1", got=speed)
        self._course, self._limits, self._share, self._speed = course, limits, share, speed
        self._ramp: Fade | None = None
        self._start_ns: int | None = None

    def begin(self, moment: Moment) -> None:
        offset = moment.told.position - self._course.values[0]
        self._ramp = Fade(offset, moment.now_ns, gentle_duration_ns(offset, self._limits, self._share))
        self._start_ns = None

    def ask(self, moment: Moment) -> Asked:
        if self._start_ns is None:
            return self._ease_in(moment)
        time_ns = (moment.now_ns - self._start_ns) * self._speed
        target = self._course.at(time_ns)
        if time_ns >= self._course.duration_ns and (self._there(moment, target) or at_rest(moment.told)):
            return Asked(target, event=Event.INTERRUPT, reason="the episode is over")
        return Asked(target)

    def left_ns(self, now_ns: int) -> int:
        """Time until the last target is due."""
        if self._start_ns is None:
            return int(self._course.duration_ns / self._speed)
        return self._start_ns + int(self._course.duration_ns / self._speed) - now_ns

    def _ease_in(self, moment: Moment) -> Asked:
        first = self._course.values[0]
        if self._ramp is not None and not self._ramp.over(moment.now_ns):
            return Asked(first + self._ramp.at(moment.now_ns))
        if not self._there(moment, first):
            return self._out_of_reach(moment, first) if at_rest(moment.told) else Asked(first)
        self._start_ns = moment.now_ns
        return Asked(first, event=Event.TAKEN_BY_REPLAY, reason="the ramp to the episode is over")

    @staticmethod
    def _out_of_reach(moment: Moment, first: NDArray[np.float64]) -> Asked:
        """The arms stand, but not where the episode begins: safety does not let them go there."""
        channel = int(np.abs(moment.told.position - first).argmax())
        why = f"the episode begins with {CHANNELS[channel]} at {first[channel]:.3f}, beyond this station's limits"
        return Asked(None, event=Event.WATCHDOG, reason=why)

    @staticmethod
    def _there(moment: Moment, target: NDArray[np.float64]) -> bool:
        return bool(np.abs(moment.told.position - target).max() < _THERE)
