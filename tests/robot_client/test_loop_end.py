"""How the loop process ends when things go wrong: nothing moves any more, and the supervisor is told."""

from __future__ import annotations

import numpy as np
import pytest

from contract.layout import JOINT_MASK
from contract.types import Observation
from contract.wire import pack
from robot_client import local_codec
from robot_client.local_messages import LoopStatus
from robot_client.pacer import Beat
from robot_client.rigs.base import Stop
from robot_client.rigs.ideal import IdealRig
from robot_client.safety.limits import limits_of
from robot_client.sources.pose import PoseSource
from robot_client.teleop.scripted import ScriptedLeader
from robot_client.teleop.source import TeleopSource
from tests.robot_client.stage import HOME, STATION, Stage, line, steady, travel


def _moving(observation: Observation) -> np.ndarray:
    rows = line(HOME, 0.005, observation.first_row, 16 - len(observation.prefix))
    return rows * JOINT_MASK + HOME * ~JOINT_MASK


_LIMITS = limits_of(STATION.safety, 0.01)


def _hand(stage: Stage) -> TeleopSource:
    return TeleopSource(ScriptedLeader(stage.clock, lambda now_ns: HOME + 0.2 * JOINT_MASK), STATION.teleop, _LIMITS)


def _driven() -> Stage:
    stage = Stage(steady(_moving))
    stage.run_until(lambda: stage.mode == "POLICY", 4.0)
    return stage


@pytest.mark.parametrize("act", ["engage", "home", "replay", "teleop", "external"])
def test_nothing_sets_the_arms_off_again_once_the_run_is_ending(act: str) -> None:
    """ "engage" after "finish" handed the arms back to the policy, which moved them until the end's 6 s ran out.

    "teleop" and "external", which came later, did the same to a leader and to a trajectory.
    """
    stage = _driven()
    stage.process.pilot.teleop, stage.process.pilot.external = _hand(stage), PoseSource("external", HOME, _LIMITS, 0.5)
    stage.person("finish")
    stage.run_until(lambda: stage.mode == "PARK", 2.0)
    stage.person(act)
    ticks = stage.run(0.3)
    assert {tick.source for tick in ticks} == {"pose:park"}
    assert stage.process.pilot.notice == f"{act} refused: the run is ending"
    stage.run_until(lambda: stage.ended, 5.0)
    assert stage.reason == "pose:park reached"


def test_a_person_may_still_hold_while_the_run_is_ending() -> None:
    stage = _driven()
    stage.person("finish")
    stage.run_until(lambda: stage.mode == "PARK", 2.0)
    stage.person("hold")
    stage.run_until(lambda: stage.ended, 2.0)
    assert stage.reason == "hold by a person"


def test_a_chunk_of_another_protocol_is_counted_and_the_policy_drives_on() -> None:
    """Only nonsense was caught; a message of another protocol number ended the loop's process, with the arms moving."""
    stage = _driven()
    stage.planner_side.send(pack({"protocol": 10**6}, {}))
    ticks = stage.run(0.5)
    assert stage.mode == "POLICY" and travel(ticks) > 0.01
    assert stage.process.inbox.counts["unreadable"] == 1


class _Closed(IdealRig):
    closed = False

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("broken", ["tick", "flush"])
def test_an_unplanned_error_holds_says_so_last_and_closes_the_rig(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop's process just died: no stop, no last status ("no last word from the loop"), the rig left open."""
    stage = _driven()
    rig = _Closed(stage.clock, HOME)
    stage.process._rig = stage.process.loop._rig = rig
    tick = stage.process.loop.tick
    ticks_left = iter(range(50))

    def run_into_it(beat: Beat) -> None:
        if next(ticks_left, None) is None:
            raise ValueError("nobody planned for this")
        tick(beat)

    monkeypatch.setattr(stage.process.loop, "tick", run_into_it)
    if broken == "flush":
        monkeypatch.setattr(stage.process.reporter, "flush", lambda: 1 / 0)
    with pytest.raises((ValueError, ZeroDivisionError)):
        stage.process.run({})
    statuses = []
    while (message := local_codec.receive(stage.to_loop)) is not None:
        statuses.append(message)
    assert rig.stops[-1] is Stop.HOLD and rig.closed
    last = statuses[-1]
    assert (
        isinstance(last, LoopStatus)
        and last.finished
        and last.mode == "FAULT"
        and last.reason.startswith("the loop failed: ")
    )
