"""A signal at the bad moments of a parking, with a loop that a test plays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contract.errors import RigError
from robot_client import local_codec, parking
from robot_client.channel import Channel
from robot_client.local_messages import LoopStatus, PersonEvent
from robot_client.parking import Parking


def status(mode: str, reason: str = "") -> LoopStatus:
    return LoopStatus(0, mode, "hold", 0, "", reason, -1, "", 0, True, {}, {}, False)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No arms, and the handlers of this process back afterwards."""
    monkeypatch.setattr(parking, "held_arms", lambda station, run_dir: [])
    monkeypatch.setattr(parking, "last_account", lambda station, run_dir: ([], True))
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGTSTP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def park(monkeypatch: pytest.MonkeyPatch, said: Callable[[str, Channel], None]) -> tuple[bool, list[str]]:
    """Whether the arms arrived, and the acts that the loop was told. `said(line, loop)` plays person and loop."""
    ends: list[Channel] = []

    def start(self: Parking, folder: Path, supervisor: Channel, planner: Channel) -> subprocess.Popen[bytes]:
        ends.extend((supervisor, planner))
        local_codec.send(supervisor, status("IDLE"))
        said("started", supervisor)
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.5)"])

    monkeypatch.setattr(Parking, "_start", start)
    arrived = Parking("yam_example", "", False, lambda line: said(line, ends[0])).run()
    acts = []
    while (message := local_codec.receive(ends[0])) is not None:
        acts += [message.act] if isinstance(message, PersonEvent) else []
    return arrived, acts


def test_a_parking_that_nobody_stops_is_told_once_and_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(line: str, loop: Channel) -> None:
        if line == "started":
            local_codec.send(loop, status("PARK"))
        elif line.startswith("parking"):
            local_codec.send(loop, status("HOLD", "pose:park reached"))

    arrived, acts = park(monkeypatch, said)
    assert arrived and [act for act in acts if act != "alive"] == ["park", "finish"]


def test_arms_that_cannot_be_parked_are_not_said_to_be_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """With another program driving them it said "parking" first."""
    said = list[str]()

    def plays(line: str, loop: Channel) -> None:
        said.append(line)
        if line == "started":
            for _ in range(2):
                local_codec.send(loop, status("FAULT", "client of the left arm: expected nobody else, got process 7"))

    arrived, _ = park(monkeypatch, plays)
    assert not arrived
    assert said == ["started", "arms: FAULT: client of the left arm: expected nobody else, got process 7"]


def test_an_arm_whose_holder_died_on_the_way_is_not_left_on_hold_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old joints are HOLD after 50 ms, a dead holder is FALLING after 100: the parking ended in between and said that
    the arms hold."""
    said = list[str]()

    def plays(line: str, loop: Channel) -> None:
        said.append(line)
        if line == "started":
            local_codec.send(loop, status("PARK"))
        elif line.startswith("parking"):
            local_codec.send(loop, status("HOLD", "joints are 53 ms old"))
            local_codec.send(loop, status("FALLING", "the left arm is not held: its holder is gone"))

    arrived, _ = park(monkeypatch, plays)
    assert not arrived
    assert "arms: FALLING: the left arm is not held: its holder is gone" in said


def test_a_signal_while_nothing_has_been_started_yet_is_kept_and_the_arms_are_still_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """B29: until the loop ran, Ctrl-C ended the command in silence and with exit code 0, as if the arms had parked."""
    said = list[str]()

    def held(station: object, run_dir: str) -> list[str]:
        os.kill(os.getpid(), signal.SIGINT)
        return []

    monkeypatch.setattr(parking, "held_arms", held)
    monkeypatch.setattr(parking, "last_account", lambda station, run_dir: (["left arm: holding"], True))
    arrived, acts = park(monkeypatch, lambda line, loop: said.append(line))
    assert not arrived and "park" not in acts
    assert said[-1] == "left arm: holding"


def test_after_trouble_the_arms_are_named_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """B29: what went wrong was said after them."""
    said = list[str]()

    def nobody(station: object, run_dir: str) -> list[str]:
        raise RigError("left arm", expected="held", got="no live holder")

    monkeypatch.setattr(parking, "held_arms", nobody)
    monkeypatch.setattr(parking, "last_account", lambda station, run_dir: (["left arm: NOT HELD"], False))
    assert not Parking("yam_example", "", False, said.append).run()
    assert said == ["yam-robot: left arm: expected held, got no live holder", "left arm: NOT HELD"]


def test_a_full_shared_memory_is_said_in_a_line_and_the_arms_are_named_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """B29: it ended in a traceback after the arms' lines."""
    said = list[str]()

    def full(kind: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parking, "make_run_folder", full)
    monkeypatch.setattr(parking, "last_account", lambda station, run_dir: (["left arm: holding"], True))
    assert not Parking("yam_example", "", False, said.append).run()
    assert said == ["yam-robot: [Errno 28] No space left on device", "left arm: holding"]


def test_an_interrupt_before_the_parking_begins_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """B29's kind: Ctrl-C while the loop was still getting ready was followed by "park", and the arms set off."""

    wait = Parking._wait

    def interrupted(self: Parking, *arguments: object) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return wait(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Parking, "_wait", interrupted)
    arrived, acts = park(monkeypatch, lambda line, loop: None)
    assert not arrived
    assert "park" not in acts and acts[-1] == "finish"
