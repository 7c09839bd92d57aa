"""Seeded layouts: which things stand where, so that one arm can reach both ends of the task and nothing overlaps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from contract.errors import ConfigurationError
from contract.layout import ARMS, Arm
from robot_client.twin.tasks import OBJECTS, RECEPTACLES, TASKS, Task
from robot_client.twin.things import PLACES, THINGS

ARM_BASE_M: Final[dict[Arm, tuple[float, float]]] = {"left": (0.0, 0.0), "right": (0.0, -0.61)}
"""Arm bases on the table (i2rt's station model)."""
REACH_M: Final = (0.20, 0.44)
"""Distance from an arm's base within which it can hover 0.12 m above the table pointing straight down."""
REGION_X_M: Final = (0.17, 0.47)
_MIDDLE_Y_M: Final = -0.305
_HALF_WIDTH_M: Final = 0.325
"""The top camera sees this far to either side of the middle; everything stands wholly inside."""
_SIDE_MARGIN_M: Final = 0.03
_THING_GAP_M: Final = 0.05
_FINGER_GAP_M: Final = 0.05
_PLACE_GAP_M: Final = 0.02
_TRIES: Final = 4000
_TRIES_EACH: Final = 60


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a thing stands on the table (left base frame), and how it is turned about the vertical."""

    x_m: float
    y_m: float
    yaw_rad: float


@dataclass(frozen=True, slots=True)
class Layout:
    """One start: the task, the nearer arm, and a spot for everything on the table. Pure function of (seed, task)."""

    seed: int
    task: Task
    arm: Arm
    things: Mapping[str, Spot]
    places: Mapping[str, Spot]


def make_layout(seed: int, task: Task | None = None) -> Layout:
    """The layout of a seed; without a task the seed chooses one of the 16.

    All four objects and receptacles are on the table: the ones not asked for are the distractors. Layouts of one seed
    for two tasks share no positions, because each task asks for other things within reach.
    """
    if isinstance(seed, bool) or seed < 0:
        raise ConfigurationError("seed of a layout", expected="a whole number from 0", got=seed)
    chooser = np.random.default_rng([seed])
    asked = task or TASKS[int(chooser.integers(len(TASKS)))]
    rng = np.random.default_rng([seed, TASKS.index(asked)])
    for _ in range(_TRIES):
        arm = ARMS[int(rng.integers(len(ARMS)))]
        layout = _attempt(rng, seed, asked, arm)
        if layout is not None:
            return layout
    raise ConfigurationError("layout", expected="room for everything", got=f"none in {_TRIES} tries for seed {seed}")


def reachable(spot: Spot, arm: Arm) -> bool:
    """Whether an arm can pick or place straight down there."""
    base = ARM_BASE_M[arm]
    return REACH_M[0] <= math.hypot(spot.x_m - base[0], spot.y_m - base[1]) <= REACH_M[1]


def nearer_arm(spot: Spot) -> Arm:
    """The arm whose base is nearer."""
    return min(ARMS, key=lambda arm: math.hypot(spot.x_m - ARM_BASE_M[arm][0], spot.y_m - ARM_BASE_M[arm][1]))


def _attempt(rng: np.random.Generator, seed: int, task: Task, arm: Arm) -> Layout | None:
    """One random arrangement, the asked things first; None when something finds no room."""
    places: dict[str, Spot] = {}
    things: dict[str, Spot] = {}
    for name in (task.receptacle, *(other for other in RECEPTACLES if other != task.receptacle)):
        needs = arm if name == task.receptacle else None
        spot = next(
            (s for s in _spots(rng, PLACES[name].radius_m) if _place_fits(name, s, places) and _ok_for(s, needs)), None
        )
        if spot is None:
            return None
        places[name] = spot
    for name in (task.object, *(other for other in OBJECTS if other != task.object)):
        needs = arm if name == task.object else None
        spot = next(
            (
                s
                for s in _spots(rng, THINGS[name].radius_m)
                if _thing_fits(name, s, things, places) and _ok_for(s, needs) and _own_side(s, needs)
            ),
            None,
        )
        if spot is None:
            return None
        things[name] = spot
    return Layout(seed, task, arm, things, places)


def _spots(rng: np.random.Generator, radius_m: float) -> list[Spot]:
    x = rng.uniform(*REGION_X_M, _TRIES_EACH)
    y = _MIDDLE_Y_M + (_HALF_WIDTH_M - radius_m) * rng.uniform(-1.0, 1.0, _TRIES_EACH)
    yaw = rng.uniform(-0.6, 0.6, _TRIES_EACH)
    return [Spot(float(a), float(b), float(c)) for a, b, c in zip(x, y, yaw, strict=True)]


def _ok_for(spot: Spot, arm: Arm | None) -> bool:
    return arm is None or reachable(spot, arm)


def _own_side(spot: Spot, arm: Arm | None) -> bool:
    """Clearly on the side of its arm, so that "the nearer arm" is no coin toss."""
    if arm is None:
        return True
    return nearer_arm(spot) == arm and abs(spot.y_m - _MIDDLE_Y_M) >= _SIDE_MARGIN_M


def _place_fits(name: str, spot: Spot, places: Mapping[str, Spot]) -> bool:
    mine = PLACES[name].radius_m
    return all(_apart(spot, other) >= mine + PLACES[n].radius_m + _PLACE_GAP_M for n, other in places.items())


def _thing_fits(name: str, spot: Spot, things: Mapping[str, Spot], places: Mapping[str, Spot]) -> bool:
    mine = THINGS[name].radius_m
    clear = all(_apart(spot, other) >= mine + PLACES[n].radius_m + _FINGER_GAP_M for n, other in places.items())
    return clear and all(_apart(spot, other) >= mine + THINGS[n].radius_m + _THING_GAP_M for n, other in things.items())


def _apart(a: Spot, b: Spot) -> float:
    return math.hypot(a.x_m - b.x_m, a.y_m - b.y_m)
