"""What the terminal shows of a run."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from robot_client.demo.shown import Shown
from robot_client.demo.view import Seen, line, screen
from robot_client.local_messages import LoopStatus
from tests.robot_client.demo.test_report import replan

MS = 1_000_000


def _status(chunk: str = "s/1/3", stamp_ns: int = 1_390 * MS) -> LoopStatus:
    return LoopStatus(
        stamp_ns=stamp_ns,
        mode="POLICY",
        source="policy",
        epoch=1,
        instruction="put the cube in the bin",
        reason="the ramp to the policy is over",
        row=14,
        chunk=chunk,
        plan_left_ns=870 * MS,
        at_rest=False,
        counters={"clip_speed": 4, "clip_lead": 0, "ticks_without_plan": 7, "periods_skipped": 2},
        notes={},
        finished=False,
    )


def _seen(status: LoopStatus | None) -> Seen:
    return Seen(
        banner="tiny on onnxruntime",
        notice="UNTRAINED WEIGHTS",
        instruction="put the cube in the bin",
        elapsed_s=3.0,
        seconds=40.0,
        status=status,
        replan=replan(3, ("full", "nolang")),
        replans=4,
        rate_hz=2.5,
        branch_counts={"1 branch": 1, "2 branches": 3},
    )


def _text(seen: Seen) -> str:
    out = io.StringIO()
    Console(file=out, width=140).print(screen(seen))
    return " ".join(out.getvalue().split())


@pytest.mark.parametrize(
    "shown",
    [
        "UNTRAINED WEIGHTS",
        "POLICY the ramp to the policy is over",
        "put the cube in the bin",
        "Temporal Ratio",
        "scales language",
        "full, nolang",
        "3 x 2 branches",
        "2.50 per second",
        "stages [ms]",
        "s/1/3, row 14, 870 ms left, age 190 ms",
        "underruns 7 ticks, periods skipped 2",
        "clipped ticks speed 4",
    ],
)
def test_the_screen_shows(shown: str) -> None:
    """The age of the chunk in force was not there, and "[ms]" was read as markup and vanished."""
    assert shown in _text(_seen(_status()))


def test_an_instruction_with_brackets_is_shown_as_it_is() -> None:
    """Text of the form "[/x]" ended the run: rich took it for a closing tag."""
    seen = _seen(None)
    seen.instruction = "put the [/red] cube [bold]"
    assert "put the [/red] cube [bold]" in _text(seen)


def test_the_age_of_a_chunk_whose_record_is_not_there_yet_is_not_made_up() -> None:
    text = _text(_seen(_status(chunk="s/1/4")))
    assert "s/1/4, row 14, 870 ms left" in text
    assert " age 1" not in text


def test_before_the_first_word_of_the_loop_it_is_starting() -> None:
    assert "mode starting" in _text(_seen(None))
    assert "replans" in line(_seen(None))


def test_without_a_terminal_a_failure_is_said_once_with_the_line_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that were lost or refused left no trace in the lines until the arms held."""
    console, seen, now_s = Console(record=True, width=200, file=io.StringIO()), _seen(None), [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now_s[0])
    seen.failure = ""
    with Shown(console, seen, live=False) as show:
        for failure in ("", "no answer in time", "no answer in time", "the link is cut"):
            seen.failure = failure
            show()
            now_s[0] += 2.0
    text = console.export_text()
    assert text.count("last failure") == 2
    assert text.index("no answer in time") < text.index("the link is cut")
