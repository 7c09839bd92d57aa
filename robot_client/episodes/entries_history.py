"""Somebody else's recording as the history of a run, as far as it has one: joints, who drove, what was to be done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from numpy.typing import NDArray

from robot_client.demo.history import History
from robot_client.episodes.formats.base import EpisodeSource
from robot_client.episodes.formats.entries import Driver, Instruction, Joints
from robot_client.ticks import TickRecord, batch_of

_BATCH: Final = 200


def history_of(source: EpisodeSource) -> History:
    """A tick for each told target. Lateness, rows and clips of a loop are not known and stand at nothing."""
    history, records = History(""), list[TickRecord]()
    newest: dict[str, tuple[int, NDArray]] = {}
    driver, done = Driver(0, "OFF", ""), 0
    for entry in source.entries(()):
        if isinstance(entry, Driver):
            driver = entry
            history.modes += [entry.mode] if history.modes[-1:] != [entry.mode] else []
        elif isinstance(entry, Instruction):
            history.instruction = entry.text
        elif isinstance(entry, Joints):
            newest[entry.kind] = (entry.stamp_ns, entry.values)
            records += [_tick(entry, newest, driver)] if entry.kind == "told" else []
        if len(records) >= _BATCH:
            history.add(batch_of(records, done))
            done, records = done + len(records), []
    if records:
        history.add(batch_of(records, done))
    return history


def tiles_of(history: History, seconds: float, missing: Sequence[str]) -> list[tuple[str, str]]:
    """What can be said of such a recording."""
    return [
        ("seconds", f"{seconds:.1f}"),
        ("targets", str(len(history.column("stamp_ns")))),
        ("largest joint travel [rad]", f"{history.joint_travel_rad():.2f}"),
        ("things missing", str(len(missing))),
    ]


def _tick(told: Joints, newest: dict[str, tuple[int, NDArray]], driver: Driver) -> TickRecord:
    measured = newest.get("measured")
    asked = newest.get("asked")
    return TickRecord(
        deadline_ns=told.stamp_ns,
        stamp_ns=told.stamp_ns,
        lateness_ns=0,
        skipped=0,
        mode=driver.mode,
        source=driver.source,
        epoch=0,
        asked=None if asked is None else asked[1],
        told=told.values,
        measured=None if measured is None else measured[1],
        measured_stamp_ns=0 if measured is None else measured[0],
        row=-1,
        fraction=0.0,
        chunk_id="",
        clips=None,
    )
