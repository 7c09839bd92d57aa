"""What becomes of a held arm when its holder's log is full or another's, or its files are deleted."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contract.errors import RigError
from contract.layout import ARMS, Arm
from contract.station import load_station
from robot_client.clock import NS_PER_S, FakeClock
from robot_client.holder import start
from robot_client.holder.claim import owner
from robot_client.holder.client import ArmClient
from robot_client.holder.driver import ArmReading
from robot_client.holder.keeper import Keeper
from robot_client.holder.messages import ArmState, Hold
from robot_client.holder.process import PERIOD_NS, HolderProcess
from robot_client.holder.rules import rules_of
from robot_client.holder.saying import Saying
from robot_client.rigs.base import Stop
from tests.robot_client.holder.arms import EmulatedStation, is_holding, state_of
from tests.robot_client.holder.fake_arm import FakeArm

RULES = rules_of(load_station("yam_example"), "left")
REST = np.append(RULES.rest, 0.0)
HEARTBEAT = RULES.heartbeat_ns // PERIOD_NS


class ScriptedClock(FakeClock):
    """Does what the script says between two steps of a holder: `{number of the step: what happens}`."""

    def __init__(self, script: dict[int, Callable[[], object]]) -> None:
        super().__init__(NS_PER_S)
        self._script, self._step = script, 0

    def sleep_until_ns(self, deadline_ns: int) -> None:
        super().sleep_until_ns(deadline_ns)
        self._step += 1
        self._script.get(self._step, lambda: None)()
        assert self._step < 1000, "the holder was never powered off"


class Log:
    """A stream that takes text and cannot pass it on."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        raise self._error


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """A holder takes the signals of its process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    interval_s = sys.getswitchinterval()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    sys.setswitchinterval(interval_s)


def holder(folder: Path, clock: FakeClock, arm: FakeArm) -> HolderProcess:
    return HolderProcess(folder, folder / "can_left.bus", RULES, arm, clock)


def test_a_holder_whose_log_takes_no_more_goes_on_holding_and_obeying(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B14's kind: the log lies in shared memory; full, each line raised, in the handler of that error too, and the
    holder's own loop ended while the driver's thread went on: an arm held for ever that nobody could reach."""
    arm, seen = FakeArm(REST), list[Hold]()
    script: dict[int, Callable[[], object]] = {
        2: lambda: client.follow(REST),
        4: lambda: seen.append(state_of(client).hold),
        6 + HEARTBEAT: lambda: seen.append(state_of(client).hold),
        8 + HEARTBEAT: lambda: client.stop(Stop.POWER_OFF, confirmed=True),
    }
    clock = ScriptedClock(script)
    client = ArmClient(tmp_path, "left", tmp_path / "can_left.bus", clock)
    monkeypatch.setattr(sys, "stdout", Log(OSError(errno.ENOSPC, "No space left on device")))
    holder(tmp_path, clock, arm).run()
    assert seen == [Hold.FOLLOWING, Hold.HOLDING]
    assert arm.told[-1] == "power_off"


def test_a_line_that_interrupts_another_line_is_dropped_and_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal's word in the middle of the holder's own: the stream answers with a RuntimeError."""
    monkeypatch.setattr(sys, "stdout", Log(RuntimeError("reentrant call")))
    Saying("left").say("SIGTERM does not end a holder", 0)


def test_files_deleted_under_a_holder_are_made_anew_so_that_it_is_reached_and_its_bus_not_taken_twice(
    tmp_path: Path,
) -> None:
    """B03's kind: a user's last logout deletes that user's shared memory (RemoveIPC). The bus looked free, a second
    holder spoke on it beside the first, and nobody could reach the first one any more."""
    folder, arm = tmp_path / "run", FakeArm(REST)
    folder.mkdir()
    owners, holds = list[int](), list[Hold]()

    def delete() -> None:
        early.follow(REST)
        shutil.rmtree(folder)

    def look() -> None:
        owners.append(owner(folder / "can_left.bus"))
        holds.append(state_of(late).hold)
        late.follow(REST)

    mended = 10 + 25
    script: dict[int, Callable[[], object]] = {
        10: delete,
        mended + HEARTBEAT: look,
        mended + HEARTBEAT + 30: lambda: holds.append(state_of(late).hold),
        mended + HEARTBEAT + 32: lambda: late.stop(Stop.POWER_OFF, confirmed=True),
    }
    clock = ScriptedClock(script)
    early, late = (ArmClient(folder, "left", folder / "can_left.bus", clock) for _ in range(2))
    holder(folder, clock, arm).run()
    assert owners == [os.getpid()]
    assert holds[0] is Hold.HOLDING
    assert "relax" not in arm.told and arm.told[-1] == "power_off"


def test_a_start_that_fails_after_torque_leaves_the_arm_as_it_was_found(tmp_path: Path) -> None:
    """B29: the driver's threads would have gone on holding it, for ever and for nobody."""

    class Mute(FakeArm):
        def read(self) -> ArmReading:
            raise IndexError("no such motor")

    arm = Mute(REST)
    with pytest.raises(IndexError):
        holder(tmp_path, FakeClock(NS_PER_S), arm).run()
    assert arm.told == ["open", "power_off"]


def test_a_holder_that_holds_is_not_killed_for_what_its_log_says_or_does_not_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B29: of two starts at the same time the second one emptied the log in which the first waited for its holder's
    word; after 30 s the first one killed a holder that had held all the while, and the arm fell."""
    station = EmulatedStation(tmp_path)
    left, spawn = start.log_of(station.run_dir, "left"), start._spawn
    left.write_text("the words of another holder\n")

    def spawned(name: str, arm: Arm, folder: Path, realtime: bool) -> subprocess.Popen[bytes]:
        if arm == "left":
            return spawn(name, arm, folder, realtime)
        start.log_of(folder, arm).touch()
        command = [sys.executable, "-m", "robot_client.holder", "--station", name, "--arm", arm, "--no-realtime"]
        return subprocess.Popen([*command, "--run-dir", str(folder)], stdout=subprocess.DEVNULL)

    monkeypatch.setattr(start, "_spawn", spawned)
    try:
        station.start()
        assert all(is_holding(station.client(arm)) for arm in ARMS)
        assert left.read_text().startswith("the words of another holder\n")
    finally:
        station.close()


class FoundArm:
    """A client of an arm whose holder is `pid`; `taken`: another process is that arm's client."""

    def __init__(self, pid: int, taken: bool = False) -> None:
        self.found = replace(Keeper(FakeClock(NS_PER_S), FakeArm(REST), RULES).state, holder=pid)
        self.taken, self.stops = taken, 0

    def state(self) -> tuple[ArmState, int]:
        return self.found, 0

    def stop(self, how: Stop, confirmed: bool) -> None:
        if self.taken:
            raise RigError("client of the arm", expected="nobody else", got="process 7")
        self.stops += 1
        self.found = replace(self.found, hold=Hold.OFF)

    def close(self) -> None:
        """Nothing is held."""


def test_a_failed_start_ends_only_holders_that_it_started_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """B29: it went by arm. Its own holder had ended and another program's had come in its place: that one was asked to
    power off in a person's name. And an arm that another program had taken hid why the start had failed."""
    monkeypatch.setattr(start, "_ASK_S", 0.001)
    monkeypatch.setattr(start, "_OFF_S", 0.05)

    def undone(client: FoundArm) -> FoundArm:
        monkeypatch.setattr(start, "clients", lambda station, run_dir: {"left": client})
        start._undo(load_station("yam_example"), "", {"left": 4711})
        return client

    assert undone(FoundArm(4711)).stops == 1, "our own"
    assert undone(FoundArm(4712)).stops == 0, "another program's"
    assert undone(FoundArm(4711, taken=True)).found.hold is Hold.HOLDING, "started by us, taken by another program"
