"""`yam-robot demo` and `yam-robot run`."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from contract.errors import ConfigurationError, RigError, StackError
from contract.station import load_station
from robot_client.demo.interrupt import Interrupt
from robot_client.demo.replans import write_replans
from robot_client.demo.run import Run
from robot_client.demo.settings import RunSettings
from robot_client.holder.account import last_account
from robot_client.local_messages import RecorderStatus
from robot_client.twin.layouts import make_layout
from robot_client.twin.tasks import parse


def run_demo(settings: RunSettings) -> int:
    """A run with its report; the exit code: 0 when it went as asked (also when asked to stop), 1 when it did not."""
    settings.check()
    settings = _with_instruction(settings)
    _prepare(settings.out)
    console = Console(markup=False)  # error lines have brackets of their own
    with Interrupt() as interrupt:
        run = Run(settings, interrupt, console)
        failure = ""
        try:
            failure = _trouble_of(run.conduct)
        except KeyboardInterrupt:
            console.print("stopped while starting")
        return _conclude(run, settings, console, failure)


def _trouble_of(act: Callable[[], None]) -> str:
    """What went wrong; empty when nothing did."""
    try:
        act()
    except StackError as error:
        return str(error)
    except Exception:  # an outermost main: whatever it is, people are told after it how the arms are left
        return traceback.format_exc()
    return ""


def _prepare(out: Path) -> None:
    """Makes the folder, without the film of an earlier run, which would pass for this one's."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "twin.mp4").unlink(missing_ok=True)
    except OSError as error:
        raise ConfigurationError(
            "out", expected="a folder to write to", got=f"{out}: {error.strerror}", remedy="choose another with --out"
        ) from error


def _with_instruction(settings: RunSettings) -> RunSettings:
    """On the twin the instruction as the suite writes it; without one, what the seed's layout is about. Else any text:
    the policy's vocabulary decides."""
    if settings.rig != "sim" or not settings.policy:
        return settings
    task = parse(settings.instruction) if settings.instruction else make_layout(settings.seed, None).task
    return replace(settings, instruction=task.instruction)


def _conclude(run: Run, settings: RunSettings, console: Console, failure: str) -> int:
    film = settings.out / "twin.mp4"
    unwritten = _trouble_of(lambda: _write_down(run, settings.out, film, console))
    if film.is_file():
        console.print(f"film:   {film}", highlight=False, soft_wrap=True)
    if run.imagining_trouble:
        console.print(f"imagined frames: {run.imagining_trouble}", highlight=False, soft_wrap=True)
    if run.recorded is not None:
        console.print(_episode_line(run.recorded), highlight=False, soft_wrap=True)
    trouble = failure or run.stopped or (run.recorded.trouble if run.recorded else "") or unwritten
    if trouble:
        console.print(f"yam-robot: {trouble}", style="red", highlight=False, soft_wrap=True)
    _say_arms(run, settings, console)
    return 1 if trouble else 0


def _say_arms(run: Run, settings: RunSettings, console: Console) -> None:
    """Last, so that nobody has to look for it: the loop's last word, and of real arms each arm's holder."""
    state = f"{run.final.mode}: {run.final.reason}" if run.final else "no last word from the loop"
    console.print(f"arms:   {state}", highlight=False, soft_wrap=True)
    if settings.rig == "yam":
        for line in last_account(load_station(settings.station))[0]:
            console.print(line, highlight=False, soft_wrap=True)


def _write_down(run: Run, out: Path, film: Path, console: Console) -> None:
    """Replans and report. Raises `RigError` when they cannot be written."""
    from robot_client.demo.report import write_report

    report = out / "report.html"
    try:
        write_replans(out / "replans.jsonl", run.history)
        shown = film if film.is_file() else None
        write_report(report, run.history, run.facts, run.notice, shown, run.drawing, charts=run.charts)
    except OSError as error:
        with suppress(OSError):
            report.unlink(missing_ok=True)  # half a page, or that of an earlier run
        raise RigError("no report", got=str(error), remedy="check disk and folder") from error
    console.print(f"report: {report}", highlight=False, soft_wrap=True)


def _episode_line(status: RecorderStatus) -> str:
    missing = f"{status.lost} messages lost" if status.lost else "nothing lost"
    state = "complete" if status.complete else "INCOMPLETE" if status.finished else "still being written"
    why = f" ({status.trouble})" if status.trouble else ""
    return f"episode: {status.folder}: {state}, {status.written} messages, {missing}{why}"


def default_bundle() -> Path:
    """The bundle of the repository."""
    return Path(__file__).resolve().parents[2] / "bundles" / "trained-foresight"
