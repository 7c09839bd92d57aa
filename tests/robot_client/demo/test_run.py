"""The whole line as a person starts it, and Ctrl-C at every moment of it."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("onnxruntime") is None, reason="the demo's server needs onnxruntime"),
    pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="the demo's report needs matplotlib"),
]
BEGUN = "up\n"
"""From here on signals are ours; a Ctrl-C before it ends Python's own start."""
_MAIN = "from robot_client.cli import main; print('up', flush=True); main()"
COMMAND = [sys.executable, "-c", _MAIN, "demo", "--headless"]
STOP_S = 8.0
MARK = "YAM_RUN_OF_THIS_TEST"


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


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, int]:
    """One short run to its end, with guidance at full scale so that more than one branch runs whatever TR says."""
    out = tmp_path_factory.mktemp("demo")
    process = demo(out, "--seconds", "8", "--guidance", "constant", "--instruction", "Put the red  cube in the bin")
    said, _ = process.communicate(timeout=110)
    return out, said, process.returncode


def test_the_twin_moves_on_rows_of_chunks_that_came_over_the_wire(finished: tuple[Path, str, int]) -> None:
    out, said, code = finished
    assert code == 0, said
    replans = [json.loads(line) for line in (out / "replans.jsonl").read_text().splitlines()]
    assert len(replans) >= 5
    assert {tuple(replan["branches"]) for replan in replans} == {("full", "nolang", "noplan")}
    assert all(replan["instruction"] == "put the red cube in the bin" for replan in replans)
    assert "POLICY" in said


def test_it_leaves_a_report_and_a_film(finished: tuple[Path, str, int]) -> None:
    import av

    out, _, _ = finished
    page = (out / "report.html").read_text()
    assert "ticks in POLICY without a row</td><td>0<" in page
    assert "ticks on a chunk that no server answered</td><td>0<" in page
    assert "data:video/mp4;base64," in page
    with av.open(str(out / "twin.mp4")) as video:
        frames = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    assert len(frames) > 50
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
    said, _ = process.communicate(timeout=60)
    assert time.monotonic() - begun < STOP_S, said
    assert "Traceback" not in said
    assert process.returncode == 0, said
    while processes_of(tmp_path) and time.monotonic() - begun < STOP_S:
        time.sleep(0.1)  # a process caught while it was being started ends by itself
    assert not processes_of(tmp_path)


def test_ctrl_c_ends_soon_although_no_process_of_the_run_reacts_any_more(tmp_path: Path) -> None:
    """Every process was waited for by itself, so that the waits added up to more than the 8 s that are promised."""
    process = demo(tmp_path, "--seconds", "60", "--record", str(tmp_path / "episodes"))
    until = time.monotonic() + 30.0
    while not (tmp_path / "logs" / "loop.log").exists() and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(3.0)
    stopped = [pid for pid in processes_of(tmp_path) if pid != process.pid]
    assert len(stopped) == 5, processes_of(tmp_path)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    begun = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=40)
    took_s = time.monotonic() - begun
    for pid in processes_of(tmp_path):
        os.kill(pid, signal.SIGCONT)  # the recorder, which is never cut off
    assert took_s < STOP_S, said
    assert "no last word from the loop" in said and "the recorder is still writing" in said
    while processes_of(tmp_path) and time.monotonic() - begun < 2 * STOP_S:
        time.sleep(0.1)
    assert not processes_of(tmp_path)


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
    said, _ = demo(tmp_path / "out", *args).communicate(timeout=50)
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
    said, _ = process.communicate(timeout=50)
    assert process.returncode == 0, said
