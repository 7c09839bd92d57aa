"""What happened in one tick, put together for whoever keeps it."""

from __future__ import annotations

from robot_client.control_source import arms_bits
from robot_client.pacer import Beat
from robot_client.pilot import Pilot
from robot_client.rigs.base import JointReading
from robot_client.safety.limits import Verdict
from robot_client.sources.base import Asked
from robot_client.ticks import TickRecord


def record_of(
    beat: Beat,
    stamp_ns: int,
    pilot: Pilot,
    asked: Asked,
    verdict: Verdict | None,
    reading: JointReading | None,
    spent_ns: tuple[int, int],
) -> TickRecord:
    """`spent_ns`: durations of limiting the target and of giving it to the rig."""
    return TickRecord(
        deadline_ns=beat.deadline_ns,
        stamp_ns=stamp_ns,
        lateness_ns=beat.lateness_ns,
        skipped=beat.skipped,
        mode=pilot.state.mode.value,
        source=pilot.driver,
        epoch=pilot.state.epoch,
        asked=asked.values,
        told=None if verdict is None else verdict.told.position,
        measured=None if reading is None else reading.positions,
        measured_stamp_ns=0 if reading is None else reading.stamp_ns,
        row=asked.row,
        fraction=asked.fraction,
        chunk_id=asked.chunk_id,
        clips=None if verdict is None else verdict.clips,
        intervention=arms_bits(pilot.intervention),
        safety_ns=spent_ns[0],
        command_ns=spent_ns[1],
    )
