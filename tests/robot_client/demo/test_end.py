"""The end of a run has one deadline, and a full disk is one line."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from contract.errors import RigError
from robot_client.demo import children, command, processes
from robot_client.demo.children import Child, end_all
from robot_client.demo.command import _conclude
from robot_client.demo.deadline import LONGEST_S, Deadline
from robot_client.demo.drawing import LEFT_OUT, Drawing
from robot_client.demo.film import Film
from robot_client.demo.filming import Filming
from robot_client.demo.history import History
from robot_client.demo.interrupt import Interrupt
from robot_client.demo.report import write_report
from robot_client.demo.run import Run
from robot_client.demo.settings import RunSettings
from robot_client.local_messages import LoopStatus
from tests.robot_client.demo.test_interrupt import _settings
from tests.robot_client.demo.test_report import replan, ticks
from tests.waiting import PATIENCE_S

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(99)"


def _stubborn(log: Path) -> Child:
    process = subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"up\n"
    process.stdout.close()
    return Child(log.name, log, process)


def test_all_steps_of_an_end_share_one_deadline() -> None:
    """Each step had a wait of its own, and together they were longer than the 8 s that were promised."""
    now_s, asked_s = [100.0], [math.inf]
    deadline = Deadline(lambda: asked_s[0], lambda: now_s[0])
    assert deadline.left_s() == math.inf and deadline.patience_s() == math.inf
    deadline.begin()
    now_s[0] += 3.0
    assert deadline.left_s() == pytest.approx(LONGEST_S - 3.0)
    assert deadline.left_s(1.0) == 1.0
    assert deadline.left_s(9.0, reserve_s=2.0) == pytest.approx(LONGEST_S - 5.0)
    now_s[0] += 10.0
    assert deadline.left_s() == 0.0


def test_the_deadline_counts_from_a_signal_that_came_before_the_end_began() -> None:
    now_s = [100.0]
    deadline = Deadline(lambda: 99.0, lambda: now_s[0])
    deadline.begin()
    assert deadline.left_s() == deadline.patience_s() == pytest.approx(LONGEST_S - 1.0)


def test_nobody_waits_for_the_report_of_a_run_that_went_as_asked_until_somebody_asks() -> None:
    asked_s = [math.inf]
    deadline = Deadline(lambda: asked_s[0], lambda: 5.0)
    deadline.begin(at_leisure=True)
    assert deadline.patience_s() == math.inf
    asked_s[0] = 4.0
    assert deadline.patience_s() == pytest.approx(LONGEST_S - 1.0)


def test_after_trouble_the_report_waits_no_longer_than_after_a_ctrl_c(tmp_path: Path) -> None:
    """B29: with a killed loop the client was gone after 14 s on a busy machine: it drew the charts first."""

    def over(stopped: str, trouble: BaseException | None) -> float:
        run = Run(_settings(tmp_path), Interrupt(), Console(quiet=True))

        def watch() -> None:
            run.stopped = stopped
            if trouble is not None:
                raise trouble

        run._start, run._watch = lambda: None, watch  # type: ignore[method-assign]
        with suppress(RigError, ZeroDivisionError):
            run.conduct()
        return run._deadline.patience_s()

    assert over("", None) == math.inf
    assert over("HOLD: late", None) <= LONGEST_S
    assert over("", RigError("the loop ended")) <= LONGEST_S
    assert over("", ZeroDivisionError()) <= LONGEST_S


def test_a_run_that_stopped_is_said_to_have_fallen_once_that_is_known(tmp_path: Path) -> None:
    """A killed holder is first silent joints, so HOLD, and then FALLING; the last line said HOLD."""
    run = Run(_settings(tmp_path), Interrupt(), Console(quiet=True))
    for mode, reason in (("HOLD", "joints are 53 ms old"), ("FALLING", "the left arm is not held"), ("HOLD", "other")):
        run.seen.status = LoopStatus(0, mode, "hold", 0, "", reason, -1, "", 0, True, {}, {}, False)
        run._early_end_s()
    assert run.stopped == "FALLING: the left arm is not held"


@pytest.mark.parametrize("error", [RigError("loop ended with code -9"), ZeroDivisionError("a fault of ours")])
def test_whatever_ended_a_run_the_state_of_each_arm_is_the_last_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    """B29: trouble was said after the arms, and after an unplanned error nobody was told about them at all."""

    def conduct(self: Run) -> None:
        raise error

    monkeypatch.setattr(Run, "conduct", conduct)
    monkeypatch.setattr(command, "last_account", lambda station: (["left arm: holding", "right arm: falling"], False))
    monkeypatch.setattr(RunSettings, "check", lambda self: None)
    settings = replace(_settings(tmp_path), rig="yam", station="yam_example", seconds=0.0)
    assert command.run_demo(settings) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3:] == ["arms:   no last word from the loop", "left arm: holding", "right arm: falling"]
    assert any(str(error) in line for line in lines)


def test_children_that_ignore_sigterm_are_ended_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were ended one after the other, a second each."""
    monkeypatch.setattr(children, "_KILLED_S", PATIENCE_S)
    stubborn = [_stubborn(tmp_path / f"{number}") for number in range(3)]
    assert end_all(stubborn, 0.5) == []
    assert not any(child.running for child in stubborn)


def test_the_time_of_children_that_ignore_sigterm_is_not_added_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a made-up clock: whoever is waited for takes all the time there is, and is gone with SIGKILL."""
    now_s = [100.0]

    class Patient:
        pid, returncode, killed = 1, None, False

        def poll(self) -> int | None:
            return -9 if self.killed else None

        def wait(self, timeout_s: float) -> int:
            if self.killed:
                return -9
            now_s[0] += timeout_s
            raise subprocess.TimeoutExpired("sleep", timeout_s)

        def send_signal(self, number: int) -> None:
            """Ignored."""

        def kill(self) -> None:
            self.killed = True

    monkeypatch.setattr(children, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    assert end_all([Child(f"{number}", tmp_path, Patient()) for number in range(3)], 0.5) == []  # type: ignore[arg-type]
    assert now_s[0] == pytest.approx(100.5)


def test_a_child_that_even_sigkill_does_not_end_is_named_and_the_others_are_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`TimeoutExpired` after SIGKILL was a traceback, and the children after that one went on running."""

    class InTheKernel:
        pid, returncode = 1, None

        def poll(self) -> None:
            return None

        def wait(self, timeout_s: float) -> int:
            raise subprocess.TimeoutExpired("sleep", timeout_s)

        def send_signal(self, number: int) -> None:
            pass

        def kill(self) -> None:
            pass

    stuck = Child("stuck", tmp_path / "stuck", InTheKernel())  # type: ignore[arg-type]
    other = _stubborn(tmp_path / "other")
    monkeypatch.setattr(children, "_KILLED_S", PATIENCE_S)
    assert end_all([stuck, other], 0.1) == [stuck]
    assert not other.running
    assert not stuck.end(0.01)


def test_a_chart_that_takes_too_long_is_left_out_and_the_page_is_written(tmp_path: Path) -> None:
    """After a Ctrl-C on a busy machine the charts alone took four seconds."""
    history = History("x")
    history.add(replan(0, ("full",)))
    history.add(ticks(5, 0, "s/1/0"))
    gate = threading.Event()
    drawing = Drawing(lambda: 0.0)
    drawing._wanted.put((lambda charts: str(gate.wait(10.0)), Future()))
    write_report(tmp_path / "r.html", history, {"policy": "tiny"}, "", None, drawing)
    gate.set()
    text = (tmp_path / "r.html").read_text()
    assert text.count(LEFT_OUT) == 4 and "<svg" not in text and "tiny" in text


@pytest.mark.parametrize("broken", [False, True])
def test_charts_are_drawn_while_processes_end_and_cannot_keep_them_from_ending(tmp_path: Path, broken: bool) -> None:
    """On a busy machine each part of the end takes a second, and charts that came last were left out."""
    run = Run(_settings(tmp_path), Interrupt(), Console(quiet=True))
    run.history.add(replan(0, ("full",)))
    if broken:
        run.history.branches = lambda: [][0]  # type: ignore[method-assign]
    drawn: list[bool] = []

    def end(left_s: object, take: object) -> bool:
        drawn.append(run.charts is not None and "<svg" in run.charts["ratio_chart"].result(PATIENCE_S))
        return True

    run._processes.end = end  # type: ignore[method-assign]
    with suppress(IndexError):
        run._see_it_end()
    assert drawn == [not broken]


def test_a_message_that_cannot_be_taken_does_not_keep_the_processes_from_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Server, planner and loop of a run whose last messages could not be shown were left behind."""
    run = Run(_settings(tmp_path), Interrupt(), Console(quiet=True))
    ended = list[bool]()
    monkeypatch.setattr(run._processes, "messages", lambda: iter([replan(0, ("full",))]))
    monkeypatch.setattr(run._log, "take", lambda message: [][0])
    monkeypatch.setattr(run._processes, "end", lambda left_s, take: ended.append(True))
    with pytest.raises(IndexError):
        run._see_it_end()
    assert ended == [True]


@pytest.mark.parametrize(("record", "opened"), [(False, 0), (True, 1)])
def test_cameras_are_opened_only_where_somebody_looks_through_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: bool, opened: int
) -> None:
    """Teleoperation without a policy and without a recording opened them too: it could not bring an arm before the
    board while a calibration had the cameras, nor run with one of them unplugged."""
    cameras, settings = list[object](), replace(_settings(tmp_path), rig="yam", station="yam_example", server="")
    made = processes.Processes(replace(settings, record=tmp_path / "episodes" if record else None), lambda line: None)
    monkeypatch.setattr(processes, "held_arms", lambda station: [])
    monkeypatch.setattr(processes, "Cameras", lambda *of: cameras.append(of) or SimpleNamespace(start=lambda: []))
    monkeypatch.setattr(processes, "Recording", lambda *of: SimpleNamespace(start=lambda logs: "episode"))
    monkeypatch.setattr(processes, "make_run_folder", lambda kind: SimpleNamespace(path=tmp_path))
    monkeypatch.setattr(made, "_start_robot", lambda: None)
    made.start()
    assert len(cameras) == opened


def test_a_twin_that_ended_is_looked_up_in_a_log_that_outlives_the_run(tmp_path: Path) -> None:
    """The message named the log in the run's folder, which is gone when a person reads it; a copy is in the logs."""
    run = Run(_settings(tmp_path), Interrupt(), Console(quiet=True))
    run._processes.twin = SimpleNamespace(alive=lambda: False)  # type: ignore[assignment]
    with pytest.raises(RigError, match=re.escape(f"see {run._processes.logs}/twin.log")):
        run._processes.require_running()


def test_an_error_in_a_chart_is_raised_where_it_was_asked_for() -> None:
    with pytest.raises(ZeroDivisionError):
        Drawing().chart(lambda charts: str(1 // 0))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_trouble_with_the_film_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "twin.mp4").symlink_to("/dev/full")
    said: list[str] = []
    filming = Filming(tmp_path / "twin.mp4", said.append)
    noise = np.random.default_rng(0).integers(0, 255, (90, 160, 3), np.uint8)
    for _ in range(20):
        filming.add(noise, None, "caption")
    filming.close()
    assert len(said) == 1 and "No space left on device" in said[0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_ends_the_film_and_not_the_run(tmp_path: Path) -> None:
    """It was a traceback that ended the run; and the flush that followed crashed the process in the muxer."""
    path = tmp_path / "twin.mp4"
    path.symlink_to("/dev/full")
    film = Film(path, 10, 90, 160)
    film.open()
    noise = np.random.default_rng(0).integers(0, 255, (90, 160, 3), np.uint8)
    for _ in range(20):
        film.add(noise, None, "caption")
    film.close()
    assert "No space left on device" in film.trouble
    assert not path.is_symlink()


def test_a_film_in_a_folder_that_is_not_there_is_trouble_of_the_film(tmp_path: Path) -> None:
    film = Film(tmp_path / "none" / "twin.mp4", 10, 90, 160)
    film.open()
    film.add(np.zeros((90, 160, 3), np.uint8), None, "caption")
    film.close()
    assert "the run goes on without it" in film.trouble


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("name", ["report.html", "replans.jsonl"])
def test_a_full_disk_at_the_report_is_one_line_and_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """It was a traceback, after which nobody was told how the arms are left."""
    os.symlink("/dev/full", tmp_path / name)
    run = Run(_settings(tmp_path), Interrupt(), Console())
    run.history.add(replan(0, ("full",)))
    code = _conclude(run, _settings(tmp_path), Console(width=200), "")
    said = capsys.readouterr().out
    assert code == 1
    assert not (tmp_path / "report.html").exists()
    assert "yam-robot: no report: " in said and "No space left on device" in said and "arms:" in said


def test_a_full_disk_at_the_start_is_one_line(tmp_path: Path) -> None:
    """Logs and configurations are files: OSError went through to the terminal."""
    (tmp_path / "logs").write_text("no folder")
    with pytest.raises(RigError, match="starting the run"):
        Run(_settings(tmp_path), Interrupt(), Console(quiet=True)).conduct()
