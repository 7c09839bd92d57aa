"""The station's space as arrays: the arms' capsules, which of them must keep apart, the box, the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.arm_shape import LINKS, ArmShape, load_arm_shape
from contract.layout import ARMS, JOINTS_PER_ARM
from contract.space import Base
from contract.space import Space as SpaceSection
from robot_client.safety.kinematics import LINK_REACH_M, ORIGIN, TOOL_REACH_M, base_at

Array = NDArray[np.float64]

_STANDING: Final = ("base", "link1")
"""Links that stay where they are but for a turn about the vertical."""
_PIECE_M: Final = 0.3
_NEAR_OWN_BASE: Final = ("gripper",)
"""Links that folding can bring to the arm's own base."""


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Capsules are numbered: C of the left arm, C of the right one, F fixed ones. Pairs (P,) are their numbers."""

    bases: Array
    """(2, 4, 4) where the bases stand in the station's frame."""
    link: NDArray[np.intp]
    """(C,) index into `LINKS`."""
    ends: Array
    """(C, 2, 3) [m] in the link's frame."""
    fixed: Array
    """(F, 2, 3) [m] in the station's frame."""
    levers_m: Array
    """(C + 1, 6) how far a capsule's farthest point, at last the tool centre, can be from each joint that turns it."""
    lever_m: Array
    """(2C + F,) the farthest of them; 0 for what is fixed."""
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    keep_m: Array
    """(P,) least distance between the capsules' lines: both radii and the margin."""
    reach_m: Array
    """(P,) as above, between the middles of the capsules' lines."""
    owners: NDArray[np.bool_]
    """(P, 2) whose arm moves in the pair."""
    lower_m: Array
    upper_m: Array
    normal: Array
    tool_level_m: float
    above_table: NDArray[np.intp]
    """Capsules of one arm that are kept above the table, by number within the arm."""
    arm_level_m: Array
    """Least height of those capsules' lines."""


def space_of(section: SpaceSection) -> Space:
    """From the station file. Raises `StationError` when the arm's shape is unknown."""
    shape = load_arm_shape(section.arm_shape)
    capsules = shape.capsules
    radius = np.array([c.radius_m for c in capsules])
    ends = np.array([(c.from_m, c.to_m) for c in capsules])
    link = np.array([LINKS.index(c.link) for c in capsules])
    fixed, fixed_radius = _pieces(section)
    first, second, margin = _pairs(shape, section, len(fixed))
    radii = np.concatenate([radius, radius, fixed_radius])
    levers = _levers(link, np.linalg.norm(ends, axis=-1).max(axis=-1))
    lever = levers[:-1].max(axis=-1)
    every = np.concatenate([ends, ends, fixed])
    halves = np.linalg.norm(every[:, 1] - every[:, 0], axis=-1) / 2
    above = np.array([i for i, c in enumerate(capsules) if c.link not in _STANDING and not c.finger], np.intp)
    normal = np.array(section.table.normal) / np.linalg.norm(section.table.normal)
    count = len(capsules)
    numbers = np.stack([first, second], axis=-1)
    return Space(
        bases=np.stack([_placed(section.base(arm)) for arm in ARMS]),
        link=link,
        ends=ends,
        fixed=fixed,
        levers_m=levers,
        lever_m=np.concatenate([lever, lever, np.zeros(len(fixed))]),
        first=first,
        second=second,
        keep_m=radii[first] + radii[second] + margin,
        reach_m=radii[first] + radii[second] + margin + halves[first] + halves[second],
        owners=np.stack([((numbers // count) == side).any(axis=-1) for side in range(len(ARMS))], axis=-1),
        lower_m=np.array(section.box.lower_m),
        upper_m=np.array(section.box.upper_m),
        normal=normal,
        tool_level_m=section.table.offset_m + section.table.tool_m,
        above_table=above,
        arm_level_m=section.table.offset_m + section.table.arm_m + radius[above],
    )


def _levers(link: NDArray[np.intp], reach_m: Array) -> Array:
    """Of capsules on links whose farthest point is `reach_m` from the link's origin, and of the tool centre."""
    last = np.append(link, len(LINKS) - 1)[:, None]
    reach = LINK_REACH_M[last] - LINK_REACH_M[1:] + np.append(reach_m, TOOL_REACH_M)[:, None]
    return np.where(last > np.arange(JOINTS_PER_ARM), reach, 0.0)


FREE: Final = Space(
    bases=np.stack([ORIGIN] * len(ARMS)),
    link=np.zeros(0, np.intp),
    ends=np.zeros((0, 2, 3)),
    fixed=np.zeros((0, 2, 3)),
    levers_m=_levers(np.zeros(0, np.intp), np.zeros(0)),
    lever_m=np.zeros(0),
    first=np.zeros(0, np.intp),
    second=np.zeros(0, np.intp),
    keep_m=np.zeros(0),
    reach_m=np.zeros(0),
    owners=np.zeros((0, len(ARMS)), bool),
    lower_m=np.full(3, -np.inf),
    upper_m=np.full(3, np.inf),
    normal=np.array([0.0, 0.0, 1.0]),
    tool_level_m=-np.inf,
    above_table=np.zeros(0, np.intp),
    arm_level_m=np.zeros(0),
)
"""Nothing around, for stations that say nothing."""


def _pieces(section: SpaceSection) -> tuple[Array, Array]:
    """Obstacles cut into short capsules (F, 2, 3), which their spheres fit better, and their radii (F,)."""
    ends, radius = [], []
    for obstacle in section.obstacles:
        start, way = np.array(obstacle.from_m), np.subtract(obstacle.to_m, obstacle.from_m)
        count = max(1, int(np.ceil(np.linalg.norm(way) / _PIECE_M)))
        ends += [(start + way * i / count, start + way * (i + 1) / count) for i in range(count)]
        radius += [obstacle.radius_m] * count
    return np.array(ends).reshape(-1, 2, 3), np.array(radius)


def _pairs(shape: ArmShape, section: SpaceSection, fixed: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Numbers of both capsules and the margin of every pair that must keep apart."""
    links = [c.link for c in shape.capsules]
    count, pairs = len(links), list[tuple[int, int, float]]()
    for i, ours in enumerate(links):
        for j, theirs in enumerate(links):
            if ours not in _STANDING or theirs not in _STANDING:
                pairs.append((i, count + j, section.arm_to_arm_m))
            if ours == "base" and theirs in _NEAR_OWN_BASE:
                pairs += [(start + i, start + j, section.arm_to_arm_m) for start in (0, count)]
        if ours not in _STANDING:
            for k in range(fixed):
                pairs += [(start + i, 2 * count + k, section.arm_to_station_m) for start in (0, count)]
    first, second, margin = (np.array(column) for column in zip(*pairs, strict=True))
    return first, second, margin


def _placed(base: Base) -> Array:
    cosine, sine = np.cos(base.yaw_rad), np.sin(base.yaw_rad)
    return base_at(np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]]), np.array(base.position_m))
