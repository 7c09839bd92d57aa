"""Collecting views: the arm turns about a pose from which the board is seen, until there are enough and all over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.board import Board
from calibration.cell import Cell
from calibration.coverage import coverage, covered, drawn
from calibration.detection import LEAST_CORNERS, AnotherBoardError, find
from calibration.views import View, save_view
from contract.errors import ConfigurationError
from contract.layout import Arm, arm_of

USEFUL_CORNERS: Final = 2 * LEAST_CORNERS
_INSIDE_RAD: Final = 0.03
"""Poses keep this distance from the limits."""
_FREE_THE_WAY: Final = (
    "bring the other arm aside; see whether box, table or distances of the station file are in the way"
)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Where one arm goes so that one camera sees the board from all sides."""

    role: str
    arm: Arm
    start: NDArray[np.float64]
    """(14,) the board is seen from here; the other arm stays as it is in it."""
    spread_rad: tuple[float, ...]
    """How far each of the arm's six joints is turned from there, to both sides."""
    views: int
    seed: int = 0


def collect(
    cell: Cell, board: Board, plan: Plan, keep: Path | None = None, say: Callable[[str], None] = lambda line: None
) -> list[View]:
    """`plan.views` views, stored in `keep` too; the arm is left where it started, from where the way to others is free.

    Raises `ConfigurationError` when the board is hardly ever seen.
    """
    rng, views, blocked = np.random.default_rng(plan.seed), list[View](), 0
    lower = cell.station.safety.vectors("lower_rad", 0.0) + _INSIDE_RAD
    upper = cell.station.safety.vectors("upper_rad", 1.0) - _INSIDE_RAD
    for attempt in range(3 * plan.views):
        pose = plan.start.copy()
        if attempt:
            share = rng.uniform(-1.0, 1.0, 6)
            # Every other pose goes far out, so that the board comes into the corners of the picture too.
            share = np.sign(share) * (0.6 + 0.4 * np.abs(share)) if attempt % 2 else share
            arm_of(pose, plan.arm)[:6] += share * plan.spread_rad
        pose = np.where(plan.start <= upper, np.clip(pose, lower, upper), pose)
        reached = cell.go(pose)
        blocked += not reached
        view = _look(cell, board, plan, keep, trusted=bool(views)) if reached else None
        if view is not None:
            views.append(view)
            say(f"{plan.role}: view {len(views)} of {plan.views}, {len(view.sighting.ids)} corners")
        if len(views) == plan.views:
            _show(views, say)
            cell.go(plan.start)
            return views
    kept_away = blocked > plan.views
    raise ConfigurationError(
        f"views of {plan.role}",
        expected=f"{plan.views}",
        got=f"{len(views)} in {3 * plan.views} poses, {blocked} of which safety kept the {plan.arm} arm from",
        remedy=_FREE_THE_WAY if kept_away else "start where the whole board is seen in the middle of the picture",
    )


def _look(cell: Cell, board: Board, plan: Plan, keep: Path | None, trusted: bool) -> View | None:
    """None when too little of the board is seen from where the arm is.

    Once the board was seen as described (`trusted`), a glimpse that does not fit says nothing against its description.
    """
    image, joints = cell.frame(plan.role).image, cell.joints().positions.copy()
    try:
        sighting = find(board, image)
    except AnotherBoardError:
        if trusted:
            return None
        raise
    if len(sighting.ids) < USEFUL_CORNERS:
        return None
    if keep is not None:
        save_view(keep, plan.role, plan.arm, joints, image)
    return View(plan.role, plan.arm, joints, sighting, (image.shape[1], image.shape[0]))


def _show(views: list[View], say: Callable[[str], None]) -> None:
    counts = coverage([view.sighting for view in views], *views[0].size)
    say(f"the board was in {covered(counts):.0%} of the picture:")
    for line in drawn(counts):
        say(line)
