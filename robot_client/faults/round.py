"""One round: engage, wait until rows run, do the fault, wait for the stop, undo it; the outcome is what it showed."""

from __future__ import annotations

from typing import Final

from contract.errors import RigError
from robot_client.clock import NS_PER_S
from robot_client.faults.case import AT_S, Case
from robot_client.faults.outcome import STOPPED, Outcome, outcome_of
from robot_client.faults.robot import Robot
from robot_client.faults.stage import Stage
from robot_client.faults.ticks import STANDING

MOST_S: Final = 1.0
"""From the fault to the stop; then the round is over without one."""
DRIVES_ON_S: Final = 0.35
"""The same for faults that need not stop the arms."""
_PATIENCE_S: Final = 1.5
"""For what a person asks for to be done."""
_BACK_S: Final = 10.0
"""For what was killed or refused to be there again; not part of a round."""
_AGAIN_S: Final = 0.5
"""Between two tries: a planner asks a server that it refused again after two seconds."""
_SETTLE_S: Final = 0.1
_ROWS: Final = 6
"""That run before a fault."""
_TRIES: Final = 60
"""On a machine so busy that plans run out by themselves."""


def run_round(stage: Stage, case: Case) -> Outcome:
    """One round. Raises `RigError` when rows do not begin to run in several tries."""
    case.before(stage)
    for tries in range(_TRIES):
        engaged_ns = _engage(stage)
        if engaged_ns and _reaches(stage, case, engaged_ns):
            fault_ns = _do(stage, case, engaged_ns)
            stage.run(lambda: _stopped(stage, case), _left_s(stage, case, fault_ns))
            robot = stage.robot
            _settle(stage)
            case.undo(stage)
            if stage.robot is robot:
                _settle(stage)
            return outcome_of(stage.station, robot, case, fault_ns, tries)
        stage.run(lambda: False, _AGAIN_S)
    raise RigError(f"rehearsal of {case.name}", expected="rows that run", got=f"none in {_TRIES} tries")


def _stopped(stage: Stage, case: Case) -> bool:
    case.turn(stage)
    return stage.robot.mode in STOPPED


def _engage(stage: Stage) -> int:
    """From rest; returns when [ns], 0 when it was not taken."""
    robot = stage.robot
    if robot.mode == "FAULT":
        robot.person("enable")
        stage.run(lambda: robot.mode == "IDLE", _PATIENCE_S)
    elif robot.mode not in STANDING:
        robot.person("hold")
        stage.run(lambda: robot.mode in STANDING, _PATIENCE_S)
        _settle(stage)
    robot.forget()
    engaged_ns = robot.person("engage")
    return engaged_ns if stage.run(lambda: robot.mode not in STANDING, _PATIENCE_S) else 0


def _reaches(stage: Stage, case: Case, engaged_ns: int) -> bool:
    """Whether enough rows run; for an injected fault, before its time."""
    robot = stage.robot
    stage.run(lambda: _rows_run(robot) or robot.mode in STOPPED, _BACK_S)
    in_time = not case.inject or _now_ns(robot) < engaged_ns + AT_S * NS_PER_S
    if _rows_run(robot) and in_time:
        return True
    if robot.mode not in STOPPED:
        robot.person("hold")
    stage.run(lambda: robot.mode in STOPPED, _PATIENCE_S)
    return False


def _rows_run(robot: Robot) -> bool:
    return robot.mode == "POLICY" and bool(robot.batches) and int(robot.batches[-1].row[-1]) >= _ROWS


def _now_ns(robot: Robot) -> int:
    return int(robot.batches[-1].stamp_ns[-1]) if robot.batches else 2**62


def _do(stage: Stage, case: Case, engaged_ns: int) -> int:
    """Do the fault; returns when it began [ns]."""
    if case.inject:
        return engaged_ns + int(AT_S * NS_PER_S)
    fault_ns = stage.now_ns()
    case.do(stage)
    return fault_ns


def _left_s(stage: Stage, case: Case, fault_ns: int) -> float:
    return (MOST_S if case.stops else DRIVES_ON_S) + max(0.0, (fault_ns - stage.now_ns()) / NS_PER_S)


def _settle(stage: Stage) -> None:
    stage.run(lambda: False, _SETTLE_S)
