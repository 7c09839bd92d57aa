"""Signals before, during and after the start of a run, and the order of its end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from robot_client import run_folder
from robot_client.demo.command import _conclude
from robot_client.demo.interrupt import Interrupt
from robot_client.demo.run import Run
from robot_client.demo.settings import RunSettings


def _settings(out: Path) -> RunSettings:
    return RunSettings(
        rig="ideal",
        station="twin",
        bundle=None,
        server="tcp://127.0.0.1:1",
        instruction="go",
        seconds=1.0,
        seed=0,
        guidance="off",
        out=out,
        headless=True,
        imagine_every_s=0.0,
    )


class _Traced:
    """Stands for processes and watcher; what is done to either is kept in order."""

    loop = None

    def __init__(self) -> None:
        self.done: list[str] = []

    def tell(self, act: str) -> None:
        self.done.append(act)

    def stop(self) -> None:
        self.done.append("watcher stopped")

    def messages(self) -> Iterator[object]:
        return iter(())

    def wait(self, timeout_s: float) -> None:
        self.done.append("watcher gone")

    def end(self, left_s: object, take: object) -> None:
        self.done.append("processes ended")


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run folders go where pytest clears them away."""
    monkeypatch.setattr(run_folder, "memory_directory", lambda: tmp_path)


def test_a_signal_before_the_start_is_kept_and_nothing_is_started(tmp_path: Path) -> None:
    """A Ctrl-C while the run was put together raised outside of every `try`: a traceback."""
    with Interrupt() as interrupt:
        run = Run(_settings(tmp_path), interrupt, Console(quiet=True))
        traced = _Traced()
        run._processes = traced  # type: ignore[assignment]
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            run.conduct()
    assert traced.done == ["finish", "processes ended"]


def test_a_signal_while_starting_breaks_off_once_and_later_ones_only_ask() -> None:
    with Interrupt() as interrupt:
        with pytest.raises(KeyboardInterrupt):
            interrupt.starting()
            os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupt.asked


def test_a_signal_while_running_is_only_asked() -> None:
    with Interrupt() as interrupt:
        interrupt.starting()
        interrupt.running()
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.asked


def test_ctrl_z_is_a_wish_to_stop_as_ctrl_c_is() -> None:
    """It stopped only the process that looks after the arms: these moved on, and Ctrl-C found nobody."""
    with Interrupt() as interrupt:
        assert callable(signal.getsignal(signal.SIGTSTP)), "else the tests would stop here"
        os.kill(os.getpid(), signal.SIGTSTP)
        assert interrupt.asked
    assert signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL


def test_everything_is_ended_although_nobody_reads_the_output_any_more(tmp_path: Path) -> None:
    """`yam-robot demo | head -1`: the last line could not be written, and processes and run folder were left behind."""

    class Unread:
        def print(self, *words: object, **style: object) -> None:
            raise SystemExit(1)

    run = Run(_settings(tmp_path), Interrupt(), Unread())  # type: ignore[arg-type]
    traced = _Traced()
    run._processes = traced  # type: ignore[assignment]
    with pytest.raises(SystemExit):
        run._end()
    assert traced.done == ["finish", "processes ended"]


def test_the_arms_are_told_to_stop_before_anybody_waits_for_the_watcher(tmp_path: Path) -> None:
    """Stopping the watcher can take a second when the server imagines; the policy moved the arms on meanwhile."""
    run = Run(_settings(tmp_path), Interrupt(), Console(quiet=True))
    traced = _Traced()
    run._processes = run._watcher = traced  # type: ignore[assignment]
    run._end()
    assert traced.done == ["finish", "watcher stopped", "processes ended", "watcher gone"]


def test_a_run_that_was_never_started_leaves_no_folder(tmp_path: Path) -> None:
    """Putting a run together made its folder already, which a setting refused afterwards left behind."""
    run = Run(_settings(tmp_path), Interrupt(), Console(quiet=True))
    assert list(tmp_path.iterdir()) == []
    run._end()
    assert list(tmp_path.iterdir()) == []


def test_the_first_signal_counts_from_when_it_came() -> None:
    with Interrupt() as interrupt:
        before_s = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)
        first_s = interrupt.asked_s
        os.kill(os.getpid(), signal.SIGINT)
        assert before_s <= first_s == interrupt.asked_s <= time.monotonic()


def test_trouble_with_imagining_is_said_and_is_among_the_facts_of_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was kept and never shown: the film just had an empty panel."""
    run = Run(_settings(tmp_path), Interrupt(), Console(quiet=True))
    assert run.facts["trouble with imagining"] == "none"
    run._watcher = SimpleNamespace(info=None, answered=0, trouble="no camera: top")  # type: ignore[assignment]
    assert run.facts["trouble with imagining"] == "no camera: top"
    assert _conclude(run, _settings(tmp_path), Console(width=200), "") == 0
    assert "imagined frames: no camera: top" in capsys.readouterr().out
