"""`yam-robot arms hold`: whoever drives an arm and whatever is with the other one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contract.errors import RigError
from contract.layout import Arm
from contract.station import load_station
from robot_client import arm_commands
from robot_client.clock import NS_PER_S, FakeClock
from robot_client.holder import account, start
from robot_client.holder.keeper import Keeper
from robot_client.holder.messages import ArmState, Hold
from robot_client.holder.rules import rules_of
from robot_client.rigs.base import Stop
from tests.robot_client.holder.fake_arm import FakeArm

RULES = rules_of(load_station("yam_example"), "left")


class Driven:
    """An arm that another program drives; a hold against its will is seen by that program at once, if it looks."""

    order = 0

    def __init__(self, looks: bool) -> None:
        made = Keeper(FakeClock(NS_PER_S), FakeArm(), RULES).state
        self.found, self.looks = replace(made, hold=Hold.FOLLOWING, client=77), looks

    def state(self) -> tuple[ArmState, int]:
        return self.found, 0

    def abandoned(self, stamp_ns: int) -> bool:
        return False

    def stop(self, how: Stop, confirmed: bool) -> None:
        raise RigError("client of the arm", expected="nobody else", got="process 77")

    def interfere(self) -> None:
        hold = Hold.FOLLOWING if self.looks else Hold.HOLDING
        self.found = replace(self.found, hold=hold, holds=self.found.holds + 1)

    def close(self) -> None:
        """Nothing is held."""


class Free(Driven):
    """An arm that nobody drives and that may be let go."""

    def stop(self, how: Stop, confirmed: bool) -> None:
        self.found = replace(self.found, hold=Hold.RELAXED)


class Nobody(Driven):
    """An arm without a holder."""

    def state(self) -> tuple[ArmState, int]:
        raise RigError("left arm", expected="a holder process", got="none")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is waited for, and nobody else is asked how the arms are."""
    monkeypatch.setattr(arm_commands, "_SETTLE_S", 0.05)
    monkeypatch.setattr(arm_commands, "_POLL_S", 0.001)
    monkeypatch.setattr(account, "account", lambda station, run_dir, chosen: ([], False))


def hold(monkeypatch: pytest.MonkeyPatch, clients: dict[Arm, Driven]) -> int:
    monkeypatch.setattr(start, "clients", lambda station, run_dir: clients)
    with pytest.raises(SystemExit) as ended:
        arm_commands.arms("hold", "yam_example")
    return int(str(ended.value.code))


def test_an_arm_without_a_holder_does_not_keep_the_other_one_from_being_held(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """B14's kind: the left arm's error ended the command, and the right arm, which was moving, was never told."""
    right = Driven(looks=False)
    assert hold(monkeypatch, {"left": Nobody(looks=False), "right": right}) == 1
    assert right.found.hold is Hold.HOLDING
    assert "left arm: expected a holder process" in capsys.readouterr().out


def test_an_arm_whose_client_has_seen_the_hold_and_goes_on_from_there_was_held(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A control loop sees the hold in its next tick, goes into HOLD and tells the arm to stay: 10 ms later its holder
    follows it again. The command waited three seconds for something else and said by its exit code that it had failed.
    """
    assert hold(monkeypatch, {"left": Driven(looks=True), "right": Driven(looks=False)}) == 0
    assert "left arm: held; its client, process 77, has seen it" in capsys.readouterr().out


def test_when_one_arm_was_let_go_and_the_other_may_not_be_both_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second arm's error was all that was said; that the first one had been relaxed was not."""
    monkeypatch.setattr(account, "account", lambda station, run_dir, chosen: (["left arm: relaxed"], False))
    arms: dict[Arm, Driven] = {"left": Free(looks=False), "right": Driven(looks=False)}
    monkeypatch.setattr(start, "clients", lambda station, run_dir: arms)
    with pytest.raises(SystemExit) as ended:
        arm_commands.arms("relax", "yam_example", confirm="supported")
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert "process 77" in said and said.splitlines()[-1] == "left arm: relaxed"


def test_an_arm_that_goes_on_as_if_nothing_had_been_said_was_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    deaf = Driven(looks=True)
    monkeypatch.setattr(deaf, "interfere", lambda: None)
    assert hold(monkeypatch, {"left": deaf, "right": Driven(looks=False)}) == 1
