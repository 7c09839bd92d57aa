"""Real holder processes with i2rt's driver on emulated motors: what happens to the arms in each fault."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from contract.errors import RigError
from robot_client import arm_commands
from robot_client.holder import start
from robot_client.holder.claim import owner
from robot_client.holder.messages import Hold
from robot_client.holder.start import start_holders
from robot_client.rigs.base import ArmFallingError, HeldError, Stop
from tests.robot_client.holder.arms import RAISED, EmulatedStation, go, is_holding, state_of
from tests.waiting import PATIENCE_S, STANDSTILL_S, until

_CLIENT = """
import sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.robot_client.holder.arms import EXAMPLE, state_of
from robot_client.holder.start import clients
from contract.station import load_station
client = clients(load_station({station!r}), {run!r})["left"]
held = state_of(client).held
print("driving", flush=True)
while True:
    client.follow(held)
    time.sleep(0.01)
"""
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatedStation]:
    """One station for all; each test starts the holders that it needs, or finds them."""
    station = EmulatedStation(tmp_path_factory.mktemp("arms"))
    yield station
    station.close()


@contextmanager
def client_process(arms: EmulatedStation) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that keeps the left arm where it is, until it is killed."""
    code = _CLIENT.format(root=str(ROOT), station=str(arms.path), run=str(arms.run_dir))
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT)
    try:
        assert process.stdout is not None and process.stdout.readline() == b"driving\n"
        yield process
    finally:
        process.kill()
        process.wait(PATIENCE_S)


def arms_target(target: np.ndarray) -> np.ndarray:
    """As the emulated motors see it: the gripper in radians."""
    return np.append(target[:6], -5.5 * target[6])


def test_letting_go_needs_rest_and_a_persons_word_and_then_the_holder_ends(arms: EmulatedStation) -> None:
    """B29: a raised arm is refused; at rest and confirmed it is powered off, and its process is gone.
    A start right after that takes no holder that is just leaving for one that stays."""
    arms.start()
    rig = arms.rig()
    left = arms.client("left")
    with pytest.raises(RigError, match="confirmation"):
        rig.stop(Stop.POWER_OFF)
    assert "supported" in rig.refusal(Stop.POWER_OFF, confirmed=False)
    go(left, RAISED, then_hold=True)
    left.close()
    assert "park first" in rig.refusal(Stop.POWER_OFF, confirmed=True)
    with pytest.raises(RigError, match="confirmation"):
        rig.stop(Stop.POWER_OFF)
    left = arms.client("left")
    go(left, np.append(arms.station.poses.park.left_rad, 0.5), then_hold=True)
    left.close()
    assert until(lambda: rig.refusal(Stop.POWER_OFF, confirmed=True) == "")
    rig.stop(Stop.POWER_OFF)
    for arm in ("left", "right"):
        client = arms.client(arm)
        assert until(lambda client=client: state_of(client).hold is Hold.OFF)
        assert until(lambda arm=arm: not arms.truth(arm)[1].any())
    assert rig.joints().held is None
    rig.close()
    again = arms.start()
    assert not again["left"].adopted and not again["right"].adopted
    assert is_holding(arms.client("left")) and is_holding(arms.client("right"))


def test_a_holder_keeps_a_raised_arm_through_the_death_of_its_client_and_every_signal(arms: EmulatedStation) -> None:
    """B14, B29: kill -9 of the client, then SIGINT, SIGTERM and SIGHUP to the holder: the arm stays up, with torque.
    A second client is refused by the first one's process id; after its death the next one adopts the arm."""
    holder = arms.start()["left"].pid
    client = arms.client("left")
    go(client, RAISED, then_hold=True)
    client.close()
    with client_process(arms) as first:
        assert until(lambda: state_of(client).hold is Hold.FOLLOWING)
        with pytest.raises(RigError, match=rf"process {first.pid}"):
            arms.client("left").follow(RAISED)
        rig = arms.rig()
        held = rig.joints().held
        assert held is not None
        with pytest.raises(RigError, match=rf"left arm.*process {first.pid}"):
            rig.command(held)
        assert not owner(arms.run_dir / "right.client"), "both arms or neither"
    killed = time.monotonic()
    assert until(lambda: is_holding(client))
    assert time.monotonic() - killed < 1.0 + STANDSTILL_S
    assert f"client {first.pid}" in state_of(client).reason
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(holder, number)
    time.sleep(0.6)
    joints, powered = arms.truth("left")
    assert powered.all() and np.abs(joints - arms_target(RAISED))[:6].max() < 0.06
    assert os.getsid(holder) == holder
    held = state_of(client).held
    client.held_against_us(state_of(client))
    client.follow(held)
    assert until(lambda: state_of(client).client == os.getpid())
    assert arms.start(("left",))["left"].adopted
    client.close()


def test_anybody_may_hold_arms_that_another_program_drives(
    arms: EmulatedStation, capsys: pytest.CaptureFixture[str]
) -> None:
    """B14's kind: the way to stop an arm was through its client, or to kill that. The client's targets count no more
    until it has seen that it was held."""
    arms.start()
    left = arms.client("left")
    with client_process(arms) as driver:
        assert until(lambda: state_of(left).hold is Hold.FOLLOWING)
        with pytest.raises(SystemExit) as ended:
            arm_commands.arms("hold", str(arms.path), "left", str(arms.run_dir))
        assert ended.value.code == 0
        said = capsys.readouterr().out
        assert "left arm: holding" in said and f"process {os.getpid()} asked for a hold" in said
        orders = state_of(left).order
        assert until(lambda: state_of(left).order > orders + 20), "its client goes on ordering"
        assert is_holding(left) and driver.poll() is None
        with pytest.raises(RigError, match=f"process {driver.pid}"):
            arm_commands.arms("relax", str(arms.path), "left", str(arms.run_dir), confirm="supported")
    left.close()


def test_a_stalled_client_is_held_and_its_rig_says_so_once(arms: EmulatedStation) -> None:
    """B14: the loop stood still for longer than its heartbeat: the next command is not obeyed but answered."""
    arms.start()
    rig = arms.rig()
    held = rig.joints().held
    assert held is not None
    left, right = arms.client("left"), arms.client("right")

    def both_follow() -> bool:
        """Told again and again: a busy machine may be late in between, and they are held before anybody looks."""
        with suppress(HeldError):
            rig.command(held)
        return state_of(left).hold is Hold.FOLLOWING and state_of(right).hold is Hold.FOLLOWING

    assert until(both_follow)
    assert until(lambda: is_holding(left) and is_holding(right))
    with pytest.raises(HeldError, match="late"):
        rig.command(held)
    rig.command(held)
    assert until(both_follow)
    rig.close()


def test_a_motor_error_makes_one_arm_fall_by_name_and_the_other_is_held(arms: EmulatedStation) -> None:
    """B30: left motor 7 reports 0xD. The rig says which arm, bus, motor and error within 100 ms of the thread's end;
    the right arm keeps torque. The left one comes back only when a person powers it off and starts it anew; then it is
    held where it lies. A start without that said "left arm: held by process 29232, as before" of the fallen arm."""
    arms.start()
    rig = arms.rig()
    start = rig.joints()
    assert start.held is not None
    rig.command(start.held)
    arms.fault("left", error=[7, 0xD])
    message = ""

    def fallen() -> bool:
        nonlocal message
        try:
            rig.joints()
        except ArmFallingError as error:
            message = str(error)
            return True
        return False

    assert until(fallen)
    for part in ("left arm is not held", "can_left", "motor 7 (0x07)", "0xD", "communication lost"):
        assert part in message
    rig.stop(Stop.HOLD)
    right = arms.client("right")
    assert until(lambda: is_holding(right))
    assert until(lambda: not arms.truth("left")[1].any())
    assert arms.truth("right")[1].all()
    rig.close()
    with pytest.raises(RigError, match=r"left arm: expected held, got process \d+: .*motor 7.*power-off --arm left"):
        arms.start()
    assert arms.start(("right",))["right"].adopted
    left = arms.client("left")
    left.stop(Stop.POWER_OFF, confirmed=True)
    assert until(lambda: state_of(left).hold is Hold.OFF)
    left.close()
    assert until(lambda: not owner(arms.run_dir / "can_left.bus"))
    again = arms.start()
    assert again["right"].adopted and not again["left"].adopted
    begin = arms.rig().joints()
    assert begin.held is not None and np.abs(begin.held - begin.positions).max() < 0.06


def test_a_killed_holder_is_a_falling_arm(arms: EmulatedStation, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing can hold an arm whose holder is gone, and nobody may report it as held. `yam-robot arms hold` and
    `power-off` said "right arm: holding", with exit code 0."""
    arms.start()
    rig = arms.rig()
    rig.joints()
    right = owner(arms.run_dir / "can_right.bus")
    os.kill(right, signal.SIGKILL)
    os.waitpid(right, 0)

    def gone() -> bool:
        try:
            rig.joints()
        except ArmFallingError as error:
            return "right arm" in str(error) and "gone" in str(error)
        return False

    assert until(gone)
    rig.close()
    for act in ("hold", "power-off"):
        with pytest.raises(SystemExit) as ended:
            arm_commands.arms(act, str(arms.path), "right", str(arms.run_dir), confirm="supported")
        assert ended.value.code == 1
        assert "right arm: NOT HELD, its holder is gone" in capsys.readouterr().out


def test_a_failed_start_leaves_the_arms_as_they_were_found(tmp_path: Path) -> None:
    """B29: the left arm had torque when the right one failed; it is off again, and the message says which part."""
    station = EmulatedStation(tmp_path)
    text = station.path.read_text()
    left, right = text.split("[arms.right]")
    station.path.write_text(left + "[arms.right]" + right.replace('arm = "yam"', 'arm = "yam_ultra_2"', 1))
    with pytest.raises(RigError, match=r"motor_types of the right arm.*yam_ultra_2"):
        start_holders(str(station.path), str(station.run_dir), realtime=False)
    client = station.client("left")
    assert until(lambda: state_of(client).hold is Hold.OFF)
    assert until(lambda: not station.truth("left")[1].any())


def test_a_holder_that_never_gets_its_arm_is_given_up_and_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B29: i2rt tries for ever to turn on a motor whose error does not clear."""
    spawned: list[subprocess.Popen[bytes]] = []

    def hangs(station: str, arm: str, folder: Path, realtime: bool) -> subprocess.Popen[bytes]:
        start.log_of(folder, arm).touch()
        spawned.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]))
        return spawned[-1]

    monkeypatch.setattr(start, "_spawn", hangs)
    monkeypatch.setattr(start, "START_S", 0.2)
    with pytest.raises(RigError, match=r"left arm: no torque within 0\.2 s, given up.*left\.log"):
        EmulatedStation(tmp_path).start(("left",))
    assert spawned[0].poll() is not None
