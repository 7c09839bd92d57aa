"""What the twin's arms do when told, when told nothing any more, and when they park. Time comes in as an argument."""

from __future__ import annotations

from enum import Enum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import ActionError
from robot_client.rigs.base import Stop
from robot_client.twin.topics import Command
from robot_client.twin.world import World, park_pose

STALE_NS: Final = 500_000_000
"""A command older than this no longer drives the arms: they hold its target."""
_PARK_SPEED: Final = 1.2
_PARK_LEAST_S: Final = 0.8
_BRAKE_S: Final = 0.15


class State(str, Enum):
    """What the arms are doing."""

    FOLLOWING = "following"
    HOLDING = "holding"
    RELAXED = "relaxed"
    FALLING = "falling"
    PARKING = "parking"
    PARKED = "parked"


_STOPPED: Final = {Stop.HOLD: State.HOLDING, Stop.RELAX: State.RELAXED, Stop.POWER_OFF: State.FALLING}


class Driver:
    """Applies commands to a world. Holds from the start: the arms move only on a fresh command, or to park."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.state = State.HOLDING
        self.refused = 0
        self._sequence = 0
        self._fresh_until_ns = 0
        self._park: _Ramp | None = None

    def take(self, sequence: int, stamp_ns: int, command: Command, now_ns: int) -> None:
        """Accept a command by its number and stamp; one seen before, stale, or sent while parking changes nothing."""
        if sequence == self._sequence:
            return
        self._sequence = sequence
        if now_ns - stamp_ns > STALE_NS or self._park is not None:
            self.refused += 1
            return
        self._apply(command)
        self._fresh_until_ns = min(stamp_ns, now_ns) + STALE_NS

    def tick(self, now_ns: int) -> None:
        """Let time pass: hold when commands stopped coming, advance a park."""
        if self._park is not None:
            self._advance_park(self._park, now_ns)
        elif self.state is State.FOLLOWING and now_ns > self._fresh_until_ns:
            self.state = State.HOLDING

    def park(self, now_ns: int) -> None:
        """Brake where the arms are, then go to the park pose along a smooth path; asking again changes nothing."""
        if self._park is None:
            measured = self._world.positions()
            self._world.power(Stop.HOLD)
            self._park = _Ramp(measured, park_pose(), now_ns + round(_BRAKE_S * 1e9))
            self.state = State.PARKING

    def restart(self) -> None:
        """After the world was reset: hold, forget the park, and ignore the command in the mailbox."""
        self.state = State.HOLDING
        self._park = None

    def _apply(self, command: Command) -> None:
        if command.stop is not None:
            self._world.power(command.stop)
            self.state = _STOPPED[command.stop]
            return
        try:
            self._world.follow(command.target)
        except ActionError:
            self.refused += 1
            return
        if self.state in (State.RELAXED, State.FALLING):
            self._world.power(Stop.HOLD)
        self.state = State.FOLLOWING

    def _advance_park(self, ramp: _Ramp, now_ns: int) -> None:
        self._world.follow(ramp.at(now_ns))
        if now_ns >= ramp.end_ns:
            self.state = State.PARKED


class _Ramp:
    """Minimum-jerk path between two poses (Flash and Hogan 1985) whose mean speed stays below `_PARK_SPEED` rad/s."""

    def __init__(self, start: NDArray[np.float64], goal: NDArray[np.float64], start_ns: int) -> None:
        self._start, self._goal, self._start_ns = start, goal, start_ns
        seconds = max(_PARK_LEAST_S, float(np.abs(goal - start).max()) / _PARK_SPEED)
        self.end_ns = start_ns + round(seconds * 1e9)

    def at(self, now_ns: int) -> NDArray[np.float64]:
        s = min(max((now_ns - self._start_ns) / (self.end_ns - self._start_ns), 0.0), 1.0)
        return self._start + (self._goal - self._start) * (10 * s**3 - 15 * s**4 + 6 * s**5)
