"""The whole line as a person starts it, and Ctrl-C at every moment of it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.robot_client.patient import patient_station
from tests.waiting import STANDSTILL_S, until

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("onnxruntime") is None, reason="the demo's server needs onnxruntime"),
    pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="the demo's report needs matplotlib"),
]
BEGUN = "up\n"
"""From here on signals are ours; a Ctrl-C before it ends Python's own start."""
_MAIN = """
import os, signal
from dataclasses import replace
from robot_client import cli

def patient(run=cli._run):
    from robot_client.demo import command
    run_demo = command.run_demo
    command.run_demo = lambda settings: run_demo(replace(settings, station=os.environ["PATIENT"]))
    run()

cli._run = patient
for number in cli._STOPS:
    signal.signal(number, cli._leave)
print("up", flush=True)
cli.main()
"""
COMMAND = [sys.executable, "-c", _MAIN, "demo", "--headless"]
STOP_S = 8.0 + STANDSTILL_S
"""Who adds up the waits for all processes is found on a made-up clock (`test_end`)."""
LEAST_REPLANS = 5
MARK = "YAM_RUN_OF_THIS_TEST"


@pytest.fixture(scope="module", autouse=True)
def station(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is tested is how a run ends and what it leaves, not that a busy machine keeps up with the twin."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATIENT", str(patient_station(tmp_path_factory.mktemp("station"))))
        yield


def demo(out: Path, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "--out", str(out), *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env={**os.environ, MARK: str(out)},
    )


def processes_of(out: Path) -> dict[int, str]:
    """Process id and command line of all processes of a run. Children have sessions of their own and outlive their
    parent's number, but they inherit its environment."""
    mark, found = f"{MARK}={out}".encode(), {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found[int(entry.name)] = line
        except OSError:
            continue
    return found


def replans_of(out: Path) -> list[dict[str, Any]]:
    """What was asked and answered in a run that has ended."""
    path = out / "replans.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, int]:
    """One short run to its end, with guidance at full scale so that more than one branch runs whatever TR says. A slow
    machine gets a longer one."""
    instruction = "Put the red  cube in the bin"
    for seconds in ("8", "60"):
        out = tmp_path_factory.mktemp("demo")
        process = demo(out, "--seconds", seconds, "--guidance", "constant", "--instruction", instruction)
        said, _ = process.communicate(timeout=250)
        if len(replans_of(out)) >= LEAST_REPLANS:
            break
    return out, said, process.returncode


def test_the_twin_moves_on_rows_of_chunks_that_came_over_the_wire(finished: tuple[Path, str, int]) -> None:
    out, said, code = finished
    assert code == 0, said
    replans = replans_of(out)
    assert len(replans) >= LEAST_REPLANS
    assert {tuple(replan["branches"]) for replan in replans} == {("full", "nolang", "noplan")}
    assert all(replan["instruction"] == "put the red cube in the bin" for replan in replans)
    assert "POLICY" in said


def test_it_leaves_a_report_and_a_film(finished: tuple[Path, str, int]) -> None:
    import av

    out, _, _ = finished
    page = (out / "report.html").read_text()
    unplanned = re.search(r"ticks in POLICY without a row</td><td>(\d+)<", page)
    assert unplanned is not None and int(unplanned[1]) < 400, "where the policy is late, the arms stand and wait"
    assert "ticks on a chunk that no server answered</td><td>0<" in page
    assert "data:video/mp4;base64," in page
    with av.open(str(out / "twin.mp4")) as video:
        frames = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    assert len(frames) > 20
    moved = abs(frames[-1][:360, :640].astype(int) - frames[5][:360, :640].astype(int)).max(axis=2) > 40
    assert moved.mean() > 0.003, "the arms did not move in the film"


def test_the_end_says_where_the_arms_are(finished: tuple[Path, str, int]) -> None:
    assert "park reached" in finished[1]


@pytest.mark.parametrize("after_s", [0.01, 0.5, 1.4, 3.0, 5.0, 8.0])
def test_ctrl_c_at_any_moment_ends_cleanly_and_soon(tmp_path: Path, after_s: float) -> None:
    """While libraries load, while processes start, in HANDOFF, in POLICY.

    What was left behind was looked for among the children of the dead process, which has none: nothing was ever found.
    """
    process = demo(tmp_path, "--seconds", "60")
    assert process.stdout is not None and process.stdout.readline() == BEGUN
    time.sleep(after_s)
    assert processes_of(tmp_path), "a search that finds nothing here finds nothing later"
    os.kill(process.pid, signal.SIGINT)
    begun = time.monotonic()
    if after_s > 1.0:
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=100)
    assert time.monotonic() - begun < STOP_S, said
    assert "Traceback" not in said
    assert process.returncode == 0, said
    assert until(lambda: not processes_of(tmp_path)), "a process caught while it was being started ends by itself"


def test_ctrl_c_ends_soon_although_no_process_of_the_run_reacts_any_more(tmp_path: Path) -> None:
    """Every process was waited for by itself, so that the waits added up to more than the 8 s that are promised."""
    process = demo(tmp_path, "--seconds", "60", "--record", str(tmp_path / "episodes"))
    assert process.stdout is not None
    while (line := process.stdout.readline()) and "starting planner and loop" not in line:
        pass
    assert process.stdout.readline(), "the policy's name, once all are ready"
    time.sleep(1.0)

    def others() -> list[int]:
        return [pid for pid in processes_of(tmp_path) if pid != process.pid]

    assert until(lambda: len(others()) == 5), processes_of(tmp_path)
    stopped = others()
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    begun = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=100)
    took_s = time.monotonic() - begun
    for pid in processes_of(tmp_path):
        os.kill(pid, signal.SIGCONT)  # the recorder, which is never cut off
    assert took_s < STOP_S, said
    assert "no last word from the loop" in said and "the recorder is still writing" in said
    assert until(lambda: not processes_of(tmp_path))


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--instruction", "fold the towel"), "put the OBJECT"),
        (("--seconds", "-1"), "seconds"),
        (("--seconds", "nan"), "seconds"),
        (("--seed", "-4"), "seed"),
        (("--bundle", "/nowhere"), "policy.toml"),
    ],
)
def test_bad_settings_are_refused_in_one_line_before_anything_starts(
    tmp_path: Path, args: tuple[str, ...], says: str
) -> None:
    said, _ = demo(tmp_path / "out", *args).communicate(timeout=100)
    assert says in said and "Traceback" not in said
    assert not (tmp_path / "out").exists()


def test_a_second_ctrl_c_while_python_leaves_does_not_change_the_exit_code(tmp_path: Path) -> None:
    """Python restores the system's own handling before it is gone: the second of two signals killed a run that had
    ended well, and its exit code said so."""
    process = demo(tmp_path, "--seconds", "60")
    assert process.stdout is not None and process.stdout.readline() == BEGUN
    time.sleep(0.5)
    while process.poll() is None:
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.002)
    said, _ = process.communicate(timeout=100)
    assert process.returncode == 0, said
