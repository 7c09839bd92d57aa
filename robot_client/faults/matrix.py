"""All faults, many rounds of each, and what came out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from contract.errors import ConfigurationError, RigError
from robot_client.faults.case import CASES, Case
from robot_client.faults.outcome import Outcome
from robot_client.faults.round import MOST_S, run_round
from robot_client.faults.stage import Stage
from robot_client.faults.station import GRACE_MS
from robot_client.percentile import rounded

TICK_MS: Final = 10.0
MOST_HOLD_MS: Final = GRACE_MS + 2 * TICK_MS
"""The station's grace and the grain of the measurement."""


def chosen(names: Sequence[str]) -> tuple[Case, ...]:
    """Cases by fault ("kill"), place ("link") or both ("kill server"); all without a name."""
    known = {word for case in CASES for word in (case.fault, case.place, case.name)}
    if unknown := [name for name in names if name not in known]:
        raise ConfigurationError("faults", expected=f"of {', '.join(sorted(known))}", got=unknown)
    return tuple(case for case in CASES if not names or {case.fault, case.place, case.name} & set(names))


def run_matrix(path: Path, rounds: int, cases: Sequence[Case], say: Callable[[str], None]) -> dict[str, Any]:
    """Run, write `path`, and return what was written."""
    if not 1 <= rounds <= 1000:
        raise ConfigurationError("rounds", expected="1 to 1000", got=rounds)
    faults: dict[str, Any] = {}
    with Stage() as stage:
        for case in cases:
            stage.fit_robot(case.inject)
            stage.tell_server("sound")
            outcomes = _outcomes(stage, case, rounds, say)
            stage.mend()
            faults[case.name] = summary(case, outcomes)
            say(row(case.name, faults[case.name]))
            _write(path, rounds, faults)
    return _write(path, rounds, faults)


def _outcomes(stage: Stage, case: Case, rounds: int, say: Callable[[str], None]) -> list[Outcome]:
    """Of all rounds, or of those before rows would not run any more."""
    outcomes: list[Outcome] = []
    try:
        while len(outcomes) < rounds:
            outcomes.append(run_round(stage, case))
    except RigError as error:
        say(str(error))
        case.undo(stage)
    return outcomes


def summary(case: Case, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """One fault's entry in the results."""
    holds = [o.hold_ms for o in outcomes if o.hold_ms is not None]
    return {
        "rounds": len(outcomes),
        "stale_rows_executed": sum(o.stale_rows for o in outcomes),
        "steps_over_limit": sum(o.steps_over for o in outcomes),
        "hold_ms_p99": rounded(holds, 99.0, 1),
        "hold_ms_max": rounded(holds, 100.0, 1),
        "detect_ms_p50": rounded([o.detect_ms for o in outcomes if o.detect_ms is not None], 50.0, 1),
        "detect_ms_p99": rounded([o.detect_ms for o in outcomes if o.detect_ms is not None], 99.0, 1),
        "stop_ms_p99": rounded([o.stop_ms for o in outcomes if o.stop_ms is not None], 99.0, 1),
        "must_stop": case.stops,
        "stopped": sum(o.stop_ms is not None for o in outcomes),
        "stopped_in": sorted({o.stopped_in for o in outcomes} - {""}),
        "moved_while_standing": sum(o.moved_standing for o in outcomes),
        "largest_step_rad": round(max((o.largest_step_rad for o in outcomes), default=0.0), 5),
        "round_s_p50": rounded([o.round_s for o in outcomes], 50.0, 2),
        "round_s_max": rounded([o.round_s for o in outcomes], 100.0, 2),
        "false_starts": sum(o.false_starts for o in outcomes),
        "real": case.real,
    }


def failures(result: dict[str, Any]) -> list[str]:
    """What is not as it must be, one line each."""
    found = []
    for name, fault in result["faults"].items():
        for key in ("stale_rows_executed", "steps_over_limit", "moved_while_standing"):
            if fault[key]:
                found.append(f"{name}: {key} is {fault[key]}, must be 0")
        if fault["rounds"] < result["rounds_of_each"]:
            found.append(f"{name}: {fault['rounds']} rounds of {result['rounds_of_each']}")
        if fault["must_stop"] and fault["stopped"] < fault["rounds"]:
            missing = fault["rounds"] - fault["stopped"]
            found.append(f"{name}: no stop within {MOST_S} s in {missing} of {fault['rounds']} rounds")
    return found


HEADER: Final = (
    f"{'fault':<16} {'rounds':>6} {'detect ms':>15} {'HOLD ms':>9} {'step rad':>9}"
    f" {'over':>5} {'stale':>6} {'moved':>6}  stopped in"
)


def row(name: str, fault: dict[str, Any]) -> str:
    """One line of the table: detection p50 and p99, HOLD after the last valid row p99."""
    detect = f"{fault['detect_ms_p50']} / {fault['detect_ms_p99']}"
    return (
        f"{name:<16} {fault['rounds']:>6} {detect:>15} {fault['hold_ms_p99']!s:>9} {fault['largest_step_rad']:>9}"
        f" {fault['steps_over_limit']:>5} {fault['stale_rows_executed']:>6} {fault['moved_while_standing']:>6}"
        f"  {', '.join(fault['stopped_in']) or 'drives on'} ({fault['stopped']})"
    )


def _write(path: Path, rounds: int, faults: dict[str, Any]) -> dict[str, Any]:
    result = {
        "rounds_of_each": rounds,
        "grace_ms": GRACE_MS,
        "most_hold_ms": MOST_HOLD_MS,
        "hold_is": "from the end of the last valid row to HOLD or FAULT, in ticks of 10 ms; 0 when it came before",
        "rig": "ideal: no arms; loop, planner and server are real processes, their sockets are real",
        "not_applicable": ["cut server", "cut client", "swap client", "reorder client", "kill link", "nan link"],
        "load_average": round(os.getloadavg()[0], 2),
        "cores": os.cpu_count(),
        "faults": faults,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result
