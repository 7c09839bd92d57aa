"""Ends of a client on the holders of emulated arms: what is gone, what is held, what the last lines say (B29)."""

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

from robot_client.holder.messages import Hold
from tests.robot_client.holder.arms import RAISED, EmulatedStation, go, is_holding, state_of
from tests.waiting import PATIENCE_S, STANDSTILL_S, until

ROOT = Path(__file__).parents[3]
GONE_S = 8.0 + STANDSTILL_S


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatedStation]:
    """Both held for the tests of this file; the last one breaks one of them."""
    station = EmulatedStation(tmp_path_factory.mktemp("teardown"))
    station.start()
    yield station
    station.close()


def _anew(arms: EmulatedStation) -> None:
    """Fresh holders: a dead bus, or a machine too busy for the motors' own timeout, let an arm go."""
    arms.close()
    arms.pids.clear()
    arms.fault("left", bus_off=False)
    arms.start()


def _raised(arms: EmulatedStation) -> None:
    if not all(until(lambda arm=arm: is_holding(arms.client(arm)), 2.0) for arm in ("left", "right")):
        _anew(arms)
    left = arms.client("left")
    if np.abs(state_of(left).held - RAISED).max() > 0.01:
        go(left, RAISED, then_hold=True)
    left.close()
    assert until(lambda: is_holding(left))


def _parking(arms: EmulatedStation) -> subprocess.Popen[str]:
    """A parking under way, from raised; tried again when a busy machine was too late for it."""
    place = ("--station", str(arms.path), "--run-dir", str(arms.run_dir), "--no-realtime")
    command = [sys.executable, "-c", "from robot_client.cli import main; main()", "park", *place]
    said: list[str] = []
    for _ in range(3):
        _raised(arms)
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert process.stdout is not None
        for line in iter(process.stdout.readline, ""):
            said.append(line)
            if "parking; Ctrl-C" in line and until(lambda: state_of(arms.client("left")).hold is Hold.FOLLOWING, 2.0):
                return process
        process.wait(PATIENCE_S)
    raise AssertionError("".join(said))


def _rest_of(process: subprocess.Popen[str]) -> list[str]:
    begun = time.monotonic()
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert time.monotonic() - begun <= GONE_S
    assert "Traceback" not in said
    return said.strip().splitlines()


def test_two_interrupts_during_the_parking_stop_and_hold_and_each_arm_is_named(arms: EmulatedStation) -> None:
    """B29: a second Ctrl-C aborted the parking and left the arm on its way."""
    process = _parking(arms)
    os.kill(process.pid, signal.SIGINT)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    lines = _rest_of(process)
    assert process.returncode == 1
    assert lines[-2].startswith("left arm: holding") and lines[-1].startswith("right arm: holding")
    assert arms.truth("left")[1].all() and np.abs(arms.truth("left")[0][1]) > 0.2


def test_a_killed_terminal_leaves_no_client_and_both_arms_held(arms: EmulatedStation) -> None:
    """B14, B29: kill -9 of whoever supervises, while the arms move: the loop ends by itself and the holders hold."""
    process = _parking(arms)
    loop = state_of(arms.client("left")).client
    process.kill()
    killed = time.monotonic()
    process.communicate(timeout=PATIENCE_S)
    assert until(lambda: not Path(f"/proc/{loop}").exists() or _is_zombie(loop), GONE_S)
    assert time.monotonic() - killed <= GONE_S
    for arm in ("left", "right"):
        assert until(lambda arm=arm: is_holding(arms.client(arm)))
        assert arms.truth(arm)[1].all()


def test_a_bus_that_dies_during_the_parking_is_falling_and_the_other_arm_is_held(arms: EmulatedStation) -> None:
    """B29, B30: the client is gone in time, its exit code tells, and it says which arm is not held."""
    ended, lines = "", list[str]()
    for _ in range(3):  # a busy machine may hold the arms before the bus dies, which is another story
        process = _parking(arms)
        arms.fault("left", bus_off=True)
        lines = _rest_of(process)
        assert process.returncode == 1
        ended = next(line for line in lines if line.startswith("arms: "))
        if not ended.startswith("arms: HOLD"):
            break
        _anew(arms)
    assert ended.startswith("arms: FALLING: the left arm is not held")
    assert lines[-2].startswith("left arm: falling")
    assert lines[-1].startswith("right arm: holding")
    assert until(lambda: state_of(arms.client("left")).hold is Hold.FALLING)
    assert until(lambda: not arms.truth("left")[1].any()), "the motors let go by their own timeout"
    assert arms.truth("right")[1].all()


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True
