"""What the loop makes of arms that fall, are held by their holder, or must not be let go. Fake clock, no process."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from contract.errors import RigError
from contract.layout import ARMS, Arm, arm_of
from robot_client.clock import NS_PER_MS, NS_PER_S, FakeClock
from robot_client.modes import Mode
from robot_client.rigs.base import ArmFallingError, HeldError, JointReading, Stop
from robot_client.rigs.ideal import IdealRig
from robot_client.safety.limits import limits_of
from tests.robot_client.stage import HOME, PERIOD_NS, START_NS, STATION, Stage, line, steady

SAG = 0.03


class ArmsRig(IdealRig):
    """Ideal arms that sag, are held by somebody, and fail when a test says so."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock, HOME, STATION.cameras, delay_ns=20 * NS_PER_MS)
        self.fall = self.hold_reason = ""
        self.hold_arms: tuple[Arm, ...] = ARMS
        self.refuses = "relax refused, left arm: joint 2 is 0.80 rad from the park pose; park first"
        self.warm = ""
        self.asked: list[tuple[Stop, bool]] = []
        self.commands: list[NDArray] = []
        self.held = np.array(HOME)

    def joints(self) -> JointReading:
        if self.fall:
            raise ArmFallingError(self.fall)
        reading = super().joints()
        return JointReading(reading.positions - SAG, reading.velocities, reading.stamp_ns, self.held)

    def command(self, target: NDArray) -> None:
        if self.hold_reason:
            self.hold_reason, reason = "", self.hold_reason
            raise HeldError.of(reason, self.hold_arms)
        self.commands.append(np.array(target))
        self.held = np.array(target)
        super().command(target)

    def alarm(self) -> str:
        return self.warm

    def refusal(self, how: Stop, confirmed: bool) -> str:
        self.asked.append((how, confirmed))
        return "" if confirmed and not self.refuses else self.refuses or "say that the arms are supported"


@pytest.fixture
def stage() -> Stage:
    clock = FakeClock(START_NS)
    return Stage(steady(lambda o: line(HOME, 0.005, o.first_row, 16)), rig=ArmsRig(clock), clock=clock)


def rig_of(stage: Stage) -> ArmsRig:
    assert isinstance(stage.rig, ArmsRig)
    return stage.rig


def test_arms_that_somebody_holds_are_taken_up_where_they_are_held_and_not_where_they_sag(stage: Stage) -> None:
    """A hold re-seeded from a sagging pose creeps down with every change of hands."""
    assert np.abs(rig_of(stage).commands[0] - HOME).max() < 1e-9


def test_a_falling_arm_ends_policy_at_once_and_the_other_is_told_to_hold(stage: Stage) -> None:
    """B30: both arms stop being commanded in one tick; the mode is FALLING, with the arm and the reason."""
    stage.run_until(lambda: stage.mode == "POLICY", 5.0)
    stage.run(0.5)
    rig_of(stage).fall = "the left arm is not held: bus can_left, motor 7 (0x07): error 0xD, communication lost"
    before = len(rig_of(stage).commands)
    stage.tick()
    assert stage.mode == "FALLING" and "left arm is not held" in stage.reason and "motor 7" in stage.reason
    stage.run(0.5)
    assert len(rig_of(stage).commands) == before
    assert stage.rig.stops == [Stop.HOLD]
    assert stage.ticks[-1].told is None


def test_after_a_fall_enabling_changes_nothing_while_the_arm_is_still_not_held(stage: Stage) -> None:
    """B30: no motion until a human has seen to it; and a human who only presses the key gets FALLING again."""
    rig_of(stage).fall = "the left arm is not held"
    stage.run(0.1)
    before = len(rig_of(stage).commands)
    stage.person("enable")
    stage.run(0.3)
    assert stage.mode == "FALLING"
    assert len(rig_of(stage).commands) == before


def test_a_hold_by_the_holder_is_hold_and_the_next_target_starts_where_it_holds(stage: Stage) -> None:
    """B14: the client stalled, its arms were held; it goes on in HOLD, from the held pose, until a person resumes."""
    stage.run_until(lambda: stage.mode == "POLICY", 5.0)
    stage.run(1.0)
    rig = rig_of(stage)
    held = rig.held
    rig.hold_reason = "client 12 is 130 ms late; held where it was sent"
    before = len(rig.commands)
    stage.run(0.5)
    assert stage.mode == "HOLD" and "130 ms late" in stage.reason
    after = np.array(rig.commands[before:])
    assert len(after) > 10 and np.abs(after - held).max() < 1e-9


def test_when_one_arm_was_held_the_other_one_brakes_and_is_not_stopped_dead() -> None:
    """B14's kind: HOLD is reached by braking, also by an arm whose neighbour was held. And what the tick that met this
    did not send is not recorded as told (B40)."""
    clock = FakeClock(START_NS)
    stage = Stage(steady(lambda o: line(HOME, 0.03, o.first_row, 16)), rig=ArmsRig(clock), clock=clock)
    stage.run_until(lambda: stage.mode == "POLICY", 5.0)
    stage.run(0.5)
    rig, held = rig_of(stage), rig_of(stage).held
    limits = arm_of(limits_of(STATION.safety, PERIOD_NS / NS_PER_S).acceleration, "right")[:6]
    most = limits.max() * (PERIOD_NS / NS_PER_S) ** 2 + 1e-9
    step = arm_of(rig.commands[-1] - rig.commands[-2], "right")[:6]
    assert np.abs(step).max() > 1.5 * most, "too fast to stand within a tick"
    rig.hold_reason, rig.hold_arms = "process 12 asked for a hold", ("left",)
    before = len(rig.commands)
    ticks = stage.run(1.0)
    assert stage.mode == "HOLD"
    assert ticks[0].told is None and ticks[1].told is not None
    after = np.array(rig.commands[before:])
    assert np.abs(arm_of(after - held, "left")).max() < 1e-9
    # The tick that was not sent halves the speed; from there on it falls no faster than the limits allow.
    steps = np.vstack([step / 2, np.diff(arm_of(np.vstack([held, after]), "right")[:, :6], axis=0)])
    assert np.abs(np.diff(steps, axis=0)).max() <= most
    assert np.abs(steps[-1]).max() == 0.0


@pytest.mark.parametrize("act", ["relax", "power_off"])
def test_letting_go_is_refused_by_the_rig_and_the_arms_stay_commanded(stage: Stage, act: str) -> None:
    """B29: the mode never says RELAXED or OFF while the arms are held."""
    stage.person("hold")
    stage.run(0.5)
    stage.person(act, "supported")
    stage.run(0.1)
    assert stage.mode == "HOLD" and "park first" in stage.process.pilot.notice
    rig_of(stage).refuses = ""
    stage.person(act)
    stage.run(0.1)
    assert stage.mode == "HOLD" and "supported" in stage.process.pilot.notice
    assert [confirmed for _, confirmed in rig_of(stage).asked] == [True, False]
    stage.person(act, "supported")
    stage.run(0.1)
    assert stage.mode in ("RELAXED", "OFF")
    assert stage.rig.stops[-1] in (Stop.RELAX, Stop.POWER_OFF)


def test_arms_without_a_holder_cannot_be_let_go_and_asking_for_it_does_not_end_the_loop(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person's "relax" before the holders were started ended the process of the loop."""

    def nobody(how: Stop, confirmed: bool) -> str:
        raise RigError("left arm", expected="a holder process", got="none")

    monkeypatch.setattr(stage.rig, "refusal", nobody)
    stage.person("hold")
    stage.run(0.5)
    stage.person("relax", "supported")
    stage.run(0.1)
    assert stage.mode == "HOLD"
    assert stage.process.pilot.notice == "relax refused: left arm: expected a holder process, got none"


def test_a_rig_error_that_is_no_fall_is_a_fault_and_holds(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf() -> JointReading:
        raise RigError("the left arm is held but follows no more")

    monkeypatch.setattr(stage.rig, "joints", deaf)
    stage.run(0.1)
    assert stage.process.pilot.state.mode is Mode.FAULT
    assert stage.rig.stops == [Stop.HOLD]


def test_an_alarm_of_the_arms_is_in_the_status_that_people_see_and_stops_nothing(stage: Stage) -> None:
    rig_of(stage).warm = "left motor 2 is at 70 C; park the arm"
    stage.run(0.3)
    assert stage.statuses[-1].notes["alarm"] == "left motor 2 is at 70 C; park the arm"
    assert stage.mode != "FAULT"
    rig_of(stage).warm = ""
    stage.run(0.3)
    assert stage.statuses[-1].notes["alarm"] == ""
