"""The loop and planner as real processes: messages, signals, a supervisor that dies."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from robot_client import local_codec
from robot_client.channel import Channel, channel_pair
from robot_client.local_messages import LocalMessage, LoopStatus, PersonEvent, PlanFailure, TickBatch
from robot_client.process_config import LoopConfig, PlannerConfig, read_config, write_config
from tests.waiting import PATIENCE_S, STANDSTILL_S


class Child:
    """One process with the test as its supervisor and its other peer."""

    def __init__(self, module: str, config: Path, peer: str) -> None:
        self.supervisor, theirs = channel_pair()
        self.peer, their_peer = channel_pair()
        fds = (theirs.fileno(), their_peer.fileno())
        options = ["--config", str(config), "--supervisor-fd", str(fds[0]), f"--{peer}-fd", str(fds[1])]
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *options],
            pass_fds=fds,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        theirs.close()
        their_peer.close()

    def until(self, wanted: Callable[[LocalMessage], bool], timeout_s: float = PATIENCE_S) -> list[LocalMessage]:
        """Messages of the supervisor's channel up to the one that is wanted."""
        return _until(self.supervisor, wanted, timeout_s)

    def end(self, timeout_s: float = PATIENCE_S) -> tuple[int, str]:
        """Exit code and output, once it has ended by itself."""
        out, _ = self.process.communicate(timeout=timeout_s)
        return self.process.returncode, out


def _until(channel: Channel, wanted: Callable[[LocalMessage], bool], timeout_s: float) -> list[LocalMessage]:
    seen: list[LocalMessage] = []
    until_s = time.monotonic() + timeout_s
    while time.monotonic() < until_s and not channel.closed:
        select.select([channel], (), (), 0.1)
        while (message := local_codec.receive(channel)) is not None:
            seen.append(message)
            if wanted(message):
                return seen
    raise AssertionError(f"not seen among {[type(message).__name__ for message in seen][-20:]}")


def _in(mode: str) -> Callable[[LocalMessage], bool]:
    return lambda message: isinstance(message, LoopStatus) and message.mode == mode


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Child]:
    write_config(tmp_path / "loop.json", LoopConfig(rig="ideal"))
    child = Child("robot_client.loop_process", tmp_path / "loop.json", "planner")
    yield child
    if child.process.poll() is None:
        child.process.kill()
        child.process.wait(PATIENCE_S)


def test_the_loop_enables_reports_every_tick_parks_at_the_end_and_says_how_the_arms_are_left(loop: Child) -> None:
    loop.until(_in("IDLE"))
    batches = [m for m in loop.until(lambda m: isinstance(m, TickBatch)) if isinstance(m, TickBatch)]
    assert batches[0].told.shape == (20, 14)
    local_codec.send(loop.supervisor, PersonEvent("finish"))
    last = loop.until(lambda m: isinstance(m, LoopStatus) and m.finished)[-1]
    assert isinstance(last, LoopStatus)
    assert (last.mode, last.reason, last.at_rest) == ("HOLD", "pose:park reached", True)
    assert {"scheduler", "memory lock", "garbage"} <= set(last.notes)
    code, out = loop.end()
    assert code == 0
    assert out.endswith("loop: arms left in HOLD: pose:park reached\n")


def test_sigint_is_ignored_and_sigterm_ends_the_run_parked(loop: Child) -> None:
    loop.until(_in("IDLE"))
    loop.process.send_signal(signal.SIGINT)
    loop.until(lambda m: isinstance(m, TickBatch))
    loop.process.send_signal(signal.SIGTERM)
    code, out = loop.end()
    assert code == 0
    assert "pose:park reached" in out
    assert "Traceback" not in out


def test_a_dead_supervisor_ends_the_loop_parked_and_in_time(loop: Child) -> None:
    """B14"""
    loop.until(_in("IDLE"))
    loop.supervisor.close()
    code, out = loop.end(8.0 + STANDSTILL_S)
    assert code == 0
    assert "pose:park reached" in out


def test_a_bad_configuration_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "loop.json").write_text('{"rig": "toaster"}')
    child = Child("robot_client.loop_process", tmp_path / "loop.json", "planner")
    code, out = child.end()
    assert code == 2
    assert "loop.json: rig" in out
    assert len(out.splitlines()) == 1


def test_the_planner_says_that_there_is_no_server_lives_on_and_ends_with_its_supervisor(tmp_path: Path) -> None:
    config = PlannerConfig(rig="ideal", server="tcp://127.0.0.1:9", session="test")
    write_config(tmp_path / "planner.json", config)
    child = Child("robot_client.planner", tmp_path / "planner.json", "loop")
    failures = child.until(lambda m: isinstance(m, PlanFailure) and m.sequence == -1)
    assert failures
    os.kill(child.process.pid, signal.SIGINT)
    child.until(lambda m: isinstance(m, PlanFailure))
    child.supervisor.close()
    code, out = child.end()
    assert code == 0
    assert "Traceback" not in out


def test_configurations_survive_their_file(tmp_path: Path) -> None:
    config = LoopConfig(rig="ideal", seed=2**64 - 1, guidance="inverted", instruction="a")
    write_config(tmp_path / "c.json", config)
    assert read_config(tmp_path / "c.json", LoopConfig) == config


def test_the_loop_process_imports_no_image_network_simulator_or_model_library() -> None:
    """Its process touches no image and waits for no network."""
    code = "import sys, robot_client.loop_process, robot_client.rigs.sim, robot_client.rigs.ideal; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout
    modules = {name.partition(".")[0] for name in out.split()}
    assert "robot_client" in modules
    assert not modules & {"cv2", "zmq", "mujoco", "torch", "onnxruntime", "tensorrt", "rclpy", "i2rt", "scipy"}
