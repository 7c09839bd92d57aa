"""The scripted expert: the nearer arm picks the thing, puts it into its place, and tries again when that failed."""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import ActionError
from robot_client.twin.judge import Facts
from robot_client.twin.kinematics import Kinematics
from robot_client.twin.layouts import Spot, nearer_arm, reachable
from robot_client.twin.twin import Twin
from training.expert.path import Waypoint, rows_to
from training.expert.waypoints import pick, put, rise

_MOST_TRIES: Final = 3


class Expert:
    """Gives one row (14,) of absolute targets every 0.1 s. It reads the twin's true state, which no policy may.

    A grasp that slipped, or a thing dropped beside its place, is tried again from where the thing lies then, up to
    three times in all. `next_row` returns None when there is nothing left to do.
    """

    def __init__(self, twin: Twin) -> None:
        self._twin = twin
        self._kinematics = Kinematics(twin.world.model)
        self._rows: deque[NDArray[np.float64]] = deque()
        self._waypoints: deque[Waypoint] = deque()
        self._told = twin.world.target
        self.purpose = ""
        self.tries = 0

    def next_row(self) -> NDArray[np.float64] | None:
        """The next row, planned from the present state when the last plan ran out or failed."""
        while not self._rows:
            if self._slipped(self._twin.verdict.facts):
                self._retry()
            if not self._waypoints and not self._replan():
                return None
            waypoint = self._waypoints.popleft()
            self.purpose = waypoint.purpose
            self._rows.extend(rows_to(self._told, waypoint))
        self._told = self._rows.popleft()
        return self._told

    def _replan(self) -> bool:
        """Plan a whole try; False when the task is done or no try is left."""
        if self._twin.verdict.facts.inside or self.tries >= _MOST_TRIES:
            return False
        task, world = self._twin.layout.task, self._twin.world
        at = world.body_position(task.object)
        spot = Spot(float(at[0]), float(at[1]), 0.0)
        arm = self._twin.layout.arm if reachable(spot, self._twin.layout.arm) else nearer_arm(spot)
        self.tries += 1
        try:
            again = rise(world, self._kinematics, arm) if self.tries > 1 else []
            plan = [*again, *pick(world, self._kinematics, arm, task.object)]
            plan += put(world, self._kinematics, arm, task.object, task.receptacle)
        except ActionError:
            return False
        self._waypoints.extend(plan)
        return True

    def _slipped(self, facts: Facts) -> bool:
        """The hand is meant to carry the thing, and does not."""
        return self.purpose in ("lift", "carry") and not facts.held

    def _retry(self) -> None:
        self._waypoints.clear()
        self.purpose = ""
