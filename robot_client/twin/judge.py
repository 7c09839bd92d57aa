"""Success and phase of a task, read from the physics alone: contacts, positions, speeds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np

from contract.layout import ARMS
from robot_client.twin.tasks import OBJECTS, RECEPTACLES, Task
from robot_client.twin.things import PLACES, THINGS
from robot_client.twin.world import World

SETTLED_S: Final = 0.25
"""How long the object must lie still and released before the task counts as done."""
_STILL_M_S: Final = 0.03
_LIFTED_M: Final = 0.012
_NEAR_M: Final = 0.045
_STACK_M: Final = 0.045


class Phase(str, Enum):
    """Where a task stands. For people and analysis; a policy never sees it."""

    APPROACH = "approach"
    GRASP = "grasp"
    TRANSPORT = "transport"
    PLACE = "place"
    RETREAT = "retreat"


@dataclass(frozen=True, slots=True)
class Facts:
    """What the physics says about the object of a task at one moment."""

    near: bool
    """A tool centre is within 4.5 cm of it."""
    touched: bool
    """Some finger touches it."""
    held: bool
    """Both fingers of one hand touch it."""
    lifted: bool
    """Its centre is more than 1.2 cm above where it rests on the table."""
    over: bool
    """Its centre is above the inside of the asked receptacle."""
    inside: bool
    """It is over and low enough to be in or on it, and touches it."""
    still: bool
    """Its centre moves slower than 3 cm/s."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Phase now, and whether the task is done (object resting in or on its receptacle, released, for `SETTLED_S`)."""

    phase: Phase
    success: bool
    facts: Facts


class Judge:
    """Follows one task. Call `look` at least every 0.1 s of simulated time."""

    def __init__(self, world: World, task: Task) -> None:
        self._world, self._task = world, task
        self._resting_since_s: float | None = None
        self._owners = np.asarray(world.model.geom_bodyid)

    def look(self) -> Verdict:
        """Judge the present state."""
        facts = self._facts()
        resting = facts.inside and facts.still and not facts.touched
        now_s = self._world.time_s
        if not resting:
            self._resting_since_s = None
        elif self._resting_since_s is None:
            self._resting_since_s = now_s
        done = self._resting_since_s is not None and now_s - self._resting_since_s >= SETTLED_S - 1e-9
        return Verdict(phase_of(facts), done, facts)

    def _facts(self) -> Facts:
        world, thing, place = self._world, self._task.object, self._task.receptacle
        centre = world.body_position(thing)
        touching = self._touching(thing)
        fingers = {name for name in touching if name.endswith(("_tip_left", "_tip_right"))}
        reach = min(float(np.linalg.norm(world.tool_position(arm) - centre)) for arm in ARMS)
        over, low = _where(world, thing, place)
        return Facts(
            near=reach < _NEAR_M,
            touched=bool(fingers),
            held=any({f"{arm}_tip_left", f"{arm}_tip_right"} <= fingers for arm in ARMS),
            lifted=bool(centre[2] > THINGS[thing].rest_height_m + _LIFTED_M),
            over=over,
            inside=over and low and place in touching,
            still=world.thing_speed(thing) < _STILL_M_S,
        )

    def _touching(self, thing: str) -> set[str]:
        """Names of the bodies in contact with a thing."""
        pairs = self._owners[self._world.data.contact.geom]
        body = self._world.model.body(thing).id
        mine = pairs[(pairs == body).any(axis=1)]
        return {self._world.model.body(int(other)).name for other in np.unique(mine) if other != body}


def phase_of(facts: Facts) -> Phase:
    """The phase as a total function of the facts."""
    if facts.inside and not facts.touched:
        return Phase.RETREAT
    if facts.over:
        return Phase.PLACE
    if facts.lifted:
        return Phase.TRANSPORT
    return Phase.GRASP if facts.near or facts.touched else Phase.APPROACH


def misplaced(world: World, task: Task) -> str | None:
    """What went where it was not asked to go, as a short sentence; None when nothing did."""
    for thing in OBJECTS:
        for place in RECEPTACLES:
            if (thing, place) != (task.object, task.receptacle) and all(_where(world, thing, place)):
                return f"{thing} is with the {place}"
    return None


def _where(world: World, thing: str, place: str) -> tuple[bool, bool]:
    """Whether a thing's centre is over the inside of a place, and low enough to lie in or on it."""
    shape = PLACES[place]
    local = world.body_rotation(place).T @ (world.body_position(thing) - world.body_position(place))
    x, y = abs(local[0]), abs(local[1])
    over = float(np.hypot(x, y)) <= shape.inner_m[0] if shape.round else x <= shape.inner_m[0] and y <= shape.inner_m[1]
    return bool(over), bool(local[2] <= shape.floor_m + _STACK_M)
