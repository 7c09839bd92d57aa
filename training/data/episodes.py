"""The scripted expert's episodes in the product's own format, as if a person had driven with a leader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from robot_client.clock import NS_PER_S
from robot_client.episodes.entry_writer import EntryWriter
from robot_client.episodes.formats.entries import Driver, Entry, Instruction, Joints, Picture
from robot_client.twin.tasks import Task
from robot_client.twin.twin import Twin
from training.expert.expert import Expert
from training.expert.path import ROW_S

_START_NS: Final = NS_PER_S
_SETTLE_ROWS: Final = 4
_MOST_ROWS: Final = 260
SOURCE: Final = "scripted leader"


def record_episode(twin: Twin, seed: int, task: Task, folder: Path) -> bool:
    """Let the expert do the layout and write it to a new folder; whether it managed.

    Raises `EpisodeError` when the folder exists or the disk does not take it.
    """
    twin.reset(seed, task)
    writer = EntryWriter(folder)
    writer.open()
    for entry in _entries(twin, task):
        writer.add(entry)
    success = twin.verdict.success
    facts = {"instruction": task.instruction, "seed": str(seed), "from": SOURCE}
    missing = [] if success else ["success: the expert did not manage"]
    writer.close(facts, dict.fromkeys(twin.frames(), 1 / ROW_S), missing, "recorded_from")
    return success


def _entries(twin: Twin, task: Task) -> Iterator[Entry]:
    """Ten times a second what is measured, told and seen; told is the row that the arms glide to."""
    expert, told, rows = Expert(twin), twin.world.target, 0
    yield Instruction(_START_NS, task.instruction)
    yield Driver(_START_NS, "TELEOP", SOURCE)
    settling = _SETTLE_ROWS
    while rows < _MOST_ROWS and settling:
        stamp_ns = _START_NS + round(rows * ROW_S * NS_PER_S)
        yield Joints(stamp_ns, "measured", np.asarray(twin.joints().positions, np.float64))
        yield Joints(stamp_ns, "told", np.array(told))
        for role, frame in twin.frames().items():
            yield Picture(stamp_ns, role, lambda image=frame.image: image)  # type: ignore[misc]
        row = expert.next_row()
        settling -= row is None
        goal = told if row is None else row
        twin.glide(told, goal, ROW_S)
        told, rows = goal, rows + 1
