"""What a picture would show later if one job or another were done from here: the expert does each of them.

All four objects and receptacles are on the table, so every other pair is a job in the same scene.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_client.twin.judge import Phase
from robot_client.twin.layouts import Layout, nearer_arm
from robot_client.twin.tasks import OBJECTS, RECEPTACLES, Task
from robot_client.twin.twin import Twin
from training.expert.expert import Expert
from training.expert.path import ROW_S

MOST_ROWS: Final = 120
Picture = Callable[[], NDArray[np.uint8]]
"""Takes the canvas (Hc, Wc, 3) of the present moment."""


def objects_after(twin: Twin, layout: Layout, rows: int, picture: Picture) -> dict[str, NDArray[np.uint8]]:
    """For each object that an arm can take: the canvas after that many rows of taking it."""
    found = {}
    for thing in OBJECTS:
        arm = layout.arm if thing == layout.task.object else nearer_arm(layout.things[thing])
        # The expert plans a whole job; where the object goes afterwards does not show while it is being reached for.
        for place in (layout.task.receptacle, *(name for name in RECEPTACLES if name != layout.task.receptacle)):
            twin.arrange(replace(layout, task=Task(thing, place), arm=arm))
            if sum(1 for _ in _rows(twin, rows)):
                found[thing] = picture()
                break
    return found


def receptacles_after(
    twin: Twin, layout: Layout, rows: int, picture: Picture, at_asked: Callable[[], None]
) -> dict[str, NDArray[np.uint8]]:
    """For each receptacle that the arm reaches: the canvas that many rows after the object is off the table.

    `at_asked` is called at that moment of the job that was asked for.
    """
    found = {}
    for place in (layout.task.receptacle, *(name for name in RECEPTACLES if name != layout.task.receptacle)):
        twin.arrange(replace(layout, task=Task(layout.task.object, place)))
        moving = _rows(twin, MOST_ROWS + rows)
        if not any(twin.verdict.phase is Phase.TRANSPORT for _ in moving):
            continue
        if place == layout.task.receptacle:
            at_asked()
        for _, _ in zip(range(rows), moving, strict=False):
            pass
        found[place] = picture()
    return found


def _rows(twin: Twin, most: int) -> Iterator[int]:
    """Let the expert work, a row at a time."""
    expert, before = Expert(twin), twin.world.target
    for number in range(most):
        row = expert.next_row()
        if row is None:
            return
        twin.glide(before, row, ROW_S)
        before = row
        yield number
