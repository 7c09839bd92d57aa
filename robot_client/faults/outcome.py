"""What one round of a fault showed: when it was noticed and when the arms stood, and what moved meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from contract.station import load_station
from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.faults.case import Case
from robot_client.faults.robot import Robot
from robot_client.faults.rows import HORIZON
from robot_client.faults.ticks import (
    Ticks,
    largest_step_rad,
    moved_while_standing,
    stale_rows,
    steps_over_limit,
    ticks_of,
)  # fmt: skip

STOPPED: Final = ("HOLD", "FAULT", "FALLING")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one round showed. None: it did not happen."""

    detect_ms: float | None
    """From the fault to the first sign of it outside of the process: a failed request, a refused chunk, a stop."""
    stop_ms: float | None
    """From the fault to HOLD or FAULT."""
    hold_ms: float | None
    """From the end of the last valid row to HOLD or FAULT, in whole ticks; 0 when it came before that end."""
    stopped_in: str
    stale_rows: int
    steps_over: int
    moved_standing: int
    largest_step_rad: float
    round_s: float
    """From the first row of POLICY, the arms having been eased into the plan, to the end of the look."""
    false_starts: int
    """Engagements that ended before the fault was done, on a busy machine."""


def outcome_of(station_name: str, robot: Robot, case: Case, fault_ns: int, false_starts: int) -> Outcome:
    """What `robot` showed of a fault that began at `fault_ns` [ns]; `false_starts` were before it."""
    ticks = ticks_of(robot.batches)
    station = load_station(station_name)
    speed = station.safety.vectors("speed_rad_s", station.safety.left.gripper_speed_1_s)
    stop = _first(ticks, STOPPED, fault_ns)
    begun = int(ticks.stamp_ns[np.argmax((ticks.row >= 0) & (ticks.mode == "POLICY"))])
    return Outcome(
        detect_ms=_detect_ms(robot, ticks, stop, fault_ns),
        stop_ms=None if stop is None else (int(ticks.stamp_ns[stop]) - fault_ns) / NS_PER_MS,
        hold_ms=None if stop is None else _hold_ms(ticks, stop),
        stopped_in="" if stop is None else str(ticks.mode[stop]),
        stale_rows=stale_rows(ticks, _engaged_epoch(ticks), _lasts(robot, ticks, case)),
        steps_over=steps_over_limit(ticks, speed, 1.0 / station.timing.loop_hz),
        moved_standing=moved_while_standing(ticks),
        largest_step_rad=largest_step_rad(ticks),
        round_s=(int(ticks.stamp_ns[-1]) - begun) / NS_PER_S,
        false_starts=false_starts,
    )


def _first(ticks: Ticks, modes: tuple[str, ...], after_ns: int) -> int | None:
    found = np.flatnonzero(np.isin(ticks.mode, modes) & (ticks.stamp_ns > after_ns))
    return int(found[0]) if len(found) else None


def _hold_ms(ticks: Ticks, stop: int) -> float:
    """From the first tick of the driving source without a valid row, just before the stop."""
    first = stop
    while first > 0 and ticks.mode[first - 1] == "POLICY" and ticks.row[first - 1] < 0:
        first -= 1
    return (int(ticks.deadline_ns[stop]) - int(ticks.deadline_ns[first])) / NS_PER_MS


def _detect_ms(robot: Robot, ticks: Ticks, stop: int | None, fault_ns: int) -> float | None:
    signs = [at_ns for at_ns, _ in robot.failures if at_ns > fault_ns]
    refused = [sum(n for name, n in s.counters.items() if name.startswith("refused_")) for s in robot.statuses]
    signs += [
        s.stamp_ns for s, n in zip(robot.statuses, refused, strict=True) if n > refused[0] and s.stamp_ns > fault_ns
    ]
    if stop is not None:
        signs.append(int(ticks.stamp_ns[stop]))
    return (min(signs) - fault_ns) / NS_PER_MS if signs else None


def _engaged_epoch(ticks: Ticks) -> int:
    """Of the last engagement: questions of before it do not count."""
    handed = np.flatnonzero(ticks.mode == "HANDOFF")
    return int(ticks.epoch[handed[0]]) if len(handed) else 0


def _lasts(robot: Robot, ticks: Ticks, case: Case) -> dict[str, int]:
    """Chunk -> its last row, of every answer that the planner passed on.

    A planner that was killed between the answer and its record leaves its newest chunk without one.
    """
    lasts = {f"{r.session}/{r.epoch}/{r.sequence}": r.first_row + len(r.rows) - 1 for r in robot.records}
    if (case.fault, case.place) == ("kill", "client") and len(ticks):
        names = [str(name) for name in ticks.chunk if name]
        if names and names[-1] not in lasts:
            lasts[names[-1]] = int(ticks.row[np.argmax(ticks.chunk == names[-1])]) + HORIZON
    return lasts
