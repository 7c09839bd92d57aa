"""The control loop's own process on two held, emulated arms: killed, started again, ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from robot_client import arm_commands, local_codec
from robot_client.channel import Channel, channel_pair
from robot_client.holder.claim import owner
from robot_client.holder.client import ArmClient
from robot_client.holder.messages import Hold
from robot_client.local_messages import LoopStatus, PersonEvent
from robot_client.process_config import LoopConfig, write_config
from tests.robot_client.holder.arms import RAISED, EmulatedStation, go, is_holding, state_of
from tests.waiting import PATIENCE_S, STANDSTILL_S, until

ROOT = Path(__file__).parents[3]


class Loop:
    """One loop process; `mode` is the newest it said."""

    def __init__(self, arms: EmulatedStation) -> None:
        config = LoopConfig(station=str(arms.path), rig="yam", run_dir=str(arms.run_dir), realtime=False)
        path = arms.folder / "loop.json"
        write_config(path, config)
        self.supervisor, theirs = channel_pair()
        self.planner, theirs_too = channel_pair()
        fds = (theirs.fileno(), theirs_too.fileno())
        arguments = ["--config", str(path), "--supervisor-fd", str(fds[0]), "--planner-fd", str(fds[1])]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "robot_client.loop_process", *arguments],
            pass_fds=fds,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        theirs.close()
        theirs_too.close()
        self.status: LoopStatus | None = None

    def mode(self) -> str:
        for message in _messages(self.supervisor):
            if isinstance(message, LoopStatus):
                self.status = message
        return "" if self.status is None else self.status.mode

    def notice(self) -> str:
        return "" if self.status is None else self.status.notes.get("notice", "")

    def person(self, act: str, text: str = "") -> None:
        local_codec.send(self.supervisor, PersonEvent(act, text))  # type: ignore[arg-type]

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_S)
        self.supervisor.close()
        self.planner.close()


def _messages(channel: Channel) -> Iterator[object]:
    while (message := local_codec.receive(channel)) is not None:
        yield message


@pytest.fixture(scope="module")
def station(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatedStation]:
    station = EmulatedStation(tmp_path_factory.mktemp("arms"))
    yield station
    station.close()


@pytest.fixture
def arms(station: EmulatedStation) -> EmulatedStation:
    """Both held; each test says in which pose it needs them."""
    station.start()
    return station


def test_an_ended_loop_says_how_it_leaves_the_arms_and_leaves_them_held(arms: EmulatedStation) -> None:
    """B29: SIGINT is the supervisor's; SIGTERM ends the run in HOLD within 8 s, and the last line says so."""
    loop = Loop(arms)
    assert until(lambda: loop.mode() in ("IDLE", "HOLD")), loop.status
    os.kill(loop.process.pid, signal.SIGINT)
    loop.person("relax")
    assert until(lambda: loop.mode() in ("IDLE", "HOLD") and "supported" in loop.notice())
    loop.person("relax", "supported")
    assert until(lambda: loop.mode() == "RELAXED")
    loop.person("enable")
    assert until(lambda: loop.mode() in ("IDLE", "HOLD"))
    os.kill(loop.process.pid, signal.SIGTERM)
    assert loop.process.wait(8.0 + STANDSTILL_S) == 0
    assert loop.process.stdout is not None
    last = loop.process.stdout.read().decode().strip().splitlines()[-1]
    assert last.startswith("loop: arms left in HOLD: ")
    loop.kill()
    for arm in ("left", "right"):
        client = arms.client(arm)
        assert until(lambda client=client: is_holding(client))
        assert arms.truth(arm)[1].all()


def raised(arms: EmulatedStation) -> ArmClient:
    """The left arm up and held; its client, which has given it up again."""
    left = arms.client("left")
    if np.abs(state_of(left).held - RAISED).max() > 0.01:
        go(left, RAISED, then_hold=True)
        left.close()
        assert until(lambda: is_holding(left))
    return left


def test_loops_that_are_killed_one_after_the_other_leave_the_arms_exactly_where_they_were(
    arms: EmulatedStation,
) -> None:
    """B14, B29: kill -9 of the client process, five times: torque stays on, the target stays the same to the last bit,
    and no change of hands lets the arms creep down by their sag."""
    left = raised(arms)
    held = state_of(left).held
    for _ in range(3):
        loop = Loop(arms)
        assert until(lambda loop=loop: loop.mode() in ("IDLE", "HOLD")), loop.status
        assert until(lambda: state_of(left).hold is Hold.FOLLOWING)
        loop.kill()
        assert until(lambda: is_holding(left))
        assert np.array_equal(state_of(left).held, held)
    joints, powered = arms.truth("left")
    assert powered.all() and np.abs(joints[:6] - RAISED[:6]).max() < 0.06


def test_arms_that_a_control_loop_drives_are_held_by_hand_and_the_command_says_so(
    arms: EmulatedStation, capsys: pytest.CaptureFixture[str]
) -> None:
    """B14's kind: the loop saw the hold in its next tick, stood in HOLD and told the arms to stay, and its holders
    followed it again. `yam-robot arms hold` waited three seconds and ended with 1, as if the arms were not held."""
    loop = Loop(arms)
    assert until(lambda: loop.mode() == "IDLE"), loop.status
    left = arms.client("left")
    assert until(lambda: state_of(left).hold is Hold.FOLLOWING)
    with pytest.raises(SystemExit) as ended:
        arm_commands.arms("hold", str(arms.path), run_dir=str(arms.run_dir))
    assert ended.value.code == 0
    said = capsys.readouterr().out
    for arm in ("left", "right"):  # a loop on a busy machine may not have seen it yet
        assert (
            f"{arm} arm: held; its client, process {loop.process.pid}, has seen it" in said
            or f"{arm} arm: holding" in said
        )
    assert until(lambda: loop.mode() == "HOLD")
    loop.kill()


def _command(arms: EmulatedStation, *arguments: str) -> subprocess.Popen[str]:
    place = ("--station", str(arms.path), "--run-dir", str(arms.run_dir))
    command = [sys.executable, "-c", "from robot_client.cli import main; main()", *arguments, *place]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_a_person_parks_raised_arms_and_only_then_lets_them_go(arms: EmulatedStation) -> None:
    """B29: Ctrl-C during the parking stops and holds; power-off is refused while raised and done at rest."""
    raised(arms)
    parking = _command(arms, "park", "--no-realtime")
    assert parking.stdout is not None
    assert until(lambda: parking.stdout is not None and "parking" in parking.stdout.readline())
    os.kill(parking.pid, signal.SIGINT)
    said, _ = parking.communicate(timeout=PATIENCE_S)
    assert parking.returncode == 1 and "arms: HOLD: hold by a person" in said
    assert np.abs(arms.truth("left")[0][1]) > 0.2
    refusing = _command(arms, "arms", "power-off", "--arm", "left", "--confirm", "supported")
    refused = refusing.communicate(timeout=PATIENCE_S)[0]
    assert "left arm: holding" in refused and "power_off of the left arm refused" in refused
    assert refusing.returncode == 1
    assert arms.truth("left")[1].all()
    for _ in range(3):  # a busy machine may be late for it, and the arms are held on their way
        parked = _command(arms, "park", "--no-realtime")
        said, _ = parked.communicate(timeout=PATIENCE_S)
        if parked.returncode == 0:
            break
    assert parked.returncode == 0, said
    letting_go = _command(arms, "arms", "power-off", "--confirm", "supported")
    off = letting_go.communicate(timeout=PATIENCE_S)[0]
    assert "left arm: off" in off and "right arm: off" in off and letting_go.returncode == 0
    assert until(lambda: not arms.truth("left")[1].any() and not arms.truth("right")[1].any())
    state = _command(arms, "arms", "state")
    said, _ = state.communicate(timeout=PATIENCE_S)
    assert state.returncode == 1 and "left arm: off" in said


def test_a_motor_error_is_falling_in_the_loop_and_its_exit_code_tells(arms: EmulatedStation) -> None:
    """B30: the mode names the arm; the other one keeps its torque; the exit code is not 0. A holder
    whose arm has fallen ends when it is told to."""
    loop = Loop(arms)
    assert until(lambda: loop.mode() in ("IDLE", "HOLD")), loop.status
    arms.fault("right", error=[3, 0xA])
    assert until(lambda: loop.mode() == "FALLING")
    assert loop.status is not None
    assert "right arm is not held" in loop.status.reason and "motor 3" in loop.status.reason
    left = arms.client("left")
    assert until(lambda: is_holding(left))
    loop.person("finish")
    assert loop.process.wait(8.0 + STANDSTILL_S) == 1
    loop.kill()
    assert until(lambda: not arms.truth("right")[1].any())
    assert arms.truth("left")[1].all()
    bus = arms.run_dir / "can_right.bus"
    os.kill(owner(bus), signal.SIGTERM)
    assert until(lambda: not owner(bus))
