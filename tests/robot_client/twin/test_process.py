"""The twin as a process: real time, real mailboxes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from contract.errors import RigError, VocabularyError
from contract.layout import SIZE, index
from robot_client.rigs.base import Stop
from robot_client.rigs.sim import SimRig
from robot_client.twin.cameras import POLICY_ROLES
from robot_client.twin.handle import TwinArguments, TwinHandle, start_twin
from robot_client.twin.scene import STEP_S
from robot_client.twin.settings import TwinSettings
from tests.waiting import PATIENCE_S, STANDSTILL_S, until


@pytest.fixture(scope="module")
def station(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, TwinHandle]]:
    run_dir = tmp_path_factory.mktemp("run")
    handle = start_twin(run_dir, TwinArguments(seed=3, overview_hz=5))
    handle.wait_ready(PATIENCE_S)
    yield run_dir, handle
    assert handle.close() == 0
    assert (run_dir / "twin.log").read_text() == ""


class Watched:
    """Remembers of every camera which moments its frames showed."""

    def __init__(self, rig: SimRig) -> None:
        self._rig, self.moments = rig, dict[str, set[int]]()

    def one_for_all(self) -> bool:
        """Look once more; whether all cameras have shown one and the same moment by now."""
        for role, frame in self._rig.frames().items():
            self.moments.setdefault(role, set()).add(frame.stamp_ns)
        return set(self.moments) == set(POLICY_ROLES) and bool(set.intersection(*self.moments.values()))


def test_a_command_through_the_rig_moves_the_arm_and_silence_holds_it(station: tuple[Path, TwinHandle]) -> None:
    """Case B14, with the real process: the arm moved, and when the commander went silent the twin says it holds."""
    run_dir, handle = station
    handle.reset(3)
    rig = SimRig(run_dir)
    rig.open()
    start = rig.joints().positions
    joint = index("left_joint1")
    goal = start.copy()
    goal[joint] -= 0.4

    def there() -> bool:
        rig.command(goal)
        return bool(abs(rig.joints().positions[joint] - goal[joint]) < 0.02)

    assert until(there)
    assert abs(rig.joints().positions[joint] - start[joint]) > 0.35
    rig.close()
    assert until(lambda: handle.status().state == "holding")  # type: ignore[union-attr]
    held = SimRig(run_dir).joints().positions
    assert abs(held[joint] - goal[joint]) < 0.02


def test_stamps_are_recent_rise_and_frames_come_before_the_moment_they_are_read(
    station: tuple[Path, TwinHandle],
) -> None:
    """Asked for frames of one moment at one look, and failed on a busy machine: looks fell between two cameras."""
    run_dir, handle = station
    rig = SimRig(run_dir)
    first = rig.joints()
    assert until(lambda: rig.joints().stamp_ns > first.stamp_ns)
    assert until(Watched(rig).one_for_all)
    frames = rig.frames()
    assert set(frames) == {"top", "left_wrist", "right_wrist"}
    assert frames["top"].image.shape == (128, 128, 3)
    assert 0 < time.monotonic_ns() - frames["top"].stamp_ns < (2 + STANDSTILL_S) * 1e9
    overview = handle.overview()
    assert overview is not None
    assert overview.image.shape == (360, 640, 3)
    assert overview.image.std() > 10


def test_physics_keeps_real_time(station: tuple[Path, TwinHandle]) -> None:
    _, handle = station
    before = handle.status()
    start_s = time.monotonic()
    assert until(lambda: handle.status().steps >= before.steps + 200)  # type: ignore[union-attr]
    after, took_s = handle.status(), time.monotonic() - start_s
    # What a busy machine left no time for is counted as an overrun.
    passed_s = (after.steps + after.overruns - before.steps - before.overruns) * STEP_S  # type: ignore[union-attr]
    assert passed_s == pytest.approx(took_s, abs=0.5)


def test_a_reset_changes_the_task_and_a_wrong_instruction_is_not_even_sent(station: tuple[Path, TwinHandle]) -> None:
    _, handle = station
    status = handle.reset(8, "put the blue ball in the bowl", PATIENCE_S)
    assert (status.seed, status.instruction, status.success) == (8, "put the blue ball in the bowl", False)
    with pytest.raises(VocabularyError):
        handle.reset(8, "put the blue ball in the sea")
    assert handle.status().seed == 8  # type: ignore[union-attr]


def test_relax_and_hold_reach_the_motors(station: tuple[Path, TwinHandle]) -> None:
    run_dir, handle = station
    rig = SimRig(run_dir)
    rig.stop(Stop.RELAX)
    assert until(lambda: handle.status().state == "relaxed")  # type: ignore[union-attr]
    rig.stop(Stop.HOLD)
    assert until(lambda: handle.status().state == "holding")  # type: ignore[union-attr]
    rig.close()


@pytest.mark.parametrize("bad", [np.full(SIZE, np.nan), np.zeros(SIZE - 1)])
def test_the_rig_refuses_commands_that_are_not_fourteen_finite_numbers(tmp_path: Path, bad: np.ndarray) -> None:
    """Case B23: nothing is written to the command mailbox."""
    rig = SimRig(tmp_path)
    with pytest.raises(RigError, match="finite"):
        rig.command(bad)
    assert list(tmp_path.iterdir()) == []


def test_the_rig_of_a_twin_that_is_not_there_says_so(tmp_path: Path) -> None:
    rig = SimRig(tmp_path)
    rig.open()
    with pytest.raises(RigError, match="wait for the twin"):
        rig.joints()
    assert rig.frames() == {}
    with pytest.raises(RigError, match="start the twin first"):
        SimRig(tmp_path / "nowhere").open()


def test_ctrl_c_does_not_reach_a_supervised_twin_and_losing_the_parent_parks_and_ends_it(tmp_path: Path) -> None:
    handle = start_twin(tmp_path, TwinArguments(policy_hz=2, overview_hz=0, sizes={"top": (96, 48)}))
    handle.wait_ready(PATIENCE_S)
    assert SimRig(tmp_path).frames()["top"].image.shape == (48, 96, 3)
    os.kill(handle.pid, signal.SIGINT)
    steps = handle.status().steps  # type: ignore[union-attr]
    assert until(lambda: handle.status().steps > steps + 20)  # type: ignore[union-attr]
    assert handle._process.stdin is not None
    handle._process.stdin.close()
    assert handle._process.wait(8 + STANDSTILL_S) == 0
    assert handle._status.newest() is not None
    assert b'"parked"' in handle._status.newest().payload  # type: ignore[union-attr]


def test_a_terminated_twin_without_cameras_ends_cleanly_and_at_once(tmp_path: Path) -> None:
    handle = start_twin(tmp_path, TwinArguments(policy_hz=0, overview_hz=0))
    handle.wait_ready(PATIENCE_S)
    os.kill(handle.pid, signal.SIGTERM)
    assert handle._process.wait(2 + STANDSTILL_S) == 0
    assert handle.close() == 0
    assert (tmp_path / "twin.log").read_text() == ""


def test_a_twin_that_cannot_start_says_why_in_one_line(tmp_path: Path) -> None:
    handle = start_twin(tmp_path, TwinArguments(instruction="dance"))
    with pytest.raises(RigError, match="put the OBJECT"):
        handle.wait_ready(PATIENCE_S)
    assert handle.close() == 2
    done = subprocess.run(
        [sys.executable, "-m", "robot_client.twin", "--run-dir", str(tmp_path / "nowhere")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "existing folder" in done.stderr
    with pytest.raises(VocabularyError):
        TwinSettings(tmp_path, instruction="dance").check()
