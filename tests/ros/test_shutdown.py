"""SIGINT and SIGTERM in every state: an orderly end of the arms first, then of ROS."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from shutdown_states import EXIT_S, STATES, ending_of
from yam_vam.running import Signals

from tests.waiting import STANDSTILL_S

pytestmark = pytest.mark.usefixtures("ros")


@pytest.mark.parametrize(
    ("state", "number"),
    [(state, (signal.SIGINT, signal.SIGTERM)[i % 2]) for i, state in enumerate(STATES)],
    ids=lambda value: str(getattr(value, "name", value)),
)
def test_a_signal_ends_the_node_in_order_in_every_state(state: str, number: signal.Signals, tmp_path: Path) -> None:
    """B33: exceptions, skipped callbacks and hangs on exit. `make ros-shutdown` does it 20 times with both signals."""
    ending = ending_of(state, number, tmp_path)
    slow = ending.fault.startswith("took") and ending.own_s < EXIT_S + STANDSTILL_S
    assert slow or not ending.fault, f"{ending.fault}\n{ending.output}"
    if state == "recording":
        from robot_client.episodes.reader import BagReader

        reader = BagReader(tmp_path / "episodes" / "episode_000000")
        list(reader.messages())
        assert reader.finished


@pytest.mark.parametrize(("value", "says"), [("seed:=abc", "INTEGER"), ("seed:=-5", "Max: 2147483647")])
def test_a_wrong_parameter_ends_the_node_with_one_line(value: str, says: str) -> None:
    """Not with a traceback: what is wrong is the value that a person gave."""
    done = subprocess.run(
        [sys.executable, "-m", "yam_vam.client", "--ros-args", "-p", value], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_node_whose_launch_was_killed_leaves_the_arms_held(tmp_path: Path) -> None:
    """B14: launch killed with -9, or with SIGTERM, leaves its nodes behind; no Ctrl-C reaches them any more."""
    launch = (
        "import os, subprocess, sys\n"
        "os.environ['YAM_LAUNCH_PID'] = str(os.getpid())\n"
        "subprocess.Popen(sys.argv[1:], stdout=open('said', 'w'), stderr=subprocess.STDOUT).wait()\n"
    )
    given = [part for value in ("rig:=ideal", f"logs:={tmp_path}", "autostart:=activate") for part in ("-p", value)]
    node = [sys.executable, "-m", "yam_vam.client", "--ros-args", *given]
    process = subprocess.Popen([sys.executable, "-c", launch, *node], cwd=tmp_path)
    said = tmp_path / "said"

    def comes(text: str) -> bool:
        until_s = time.monotonic() + 60.0
        while time.monotonic() < until_s:
            if said.exists() and text in said.read_text():
                return True
            time.sleep(0.05)
        return False

    try:
        assert comes("loop is up"), said.read_text()
        process.send_signal(signal.SIGKILL)
        assert comes("ended in"), said.read_text()
    finally:
        process.kill()
        process.wait(60)
    assert "the launch that started this node is gone" in said.read_text()
    assert "arms left in HOLD" in said.read_text() or "arms left in OFF" in said.read_text()


def test_ctrl_z_ends_a_node_as_ctrl_c_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stopped the node that hears ~/hold, and the loop in its own session drove on."""
    taken: dict[int, object] = {}
    monkeypatch.setattr(signal, "signal", taken.__setitem__)
    signals = Signals()
    signals.install()
    handler = taken[signal.SIGTSTP]
    assert callable(handler) and signals() == 0
    handler(signal.SIGTSTP, None)
    assert signals() == 1
