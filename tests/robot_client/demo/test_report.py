"""The report says what happened in a run, also when little happened."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_client.demo.film import Film
from robot_client.demo.history import History
from robot_client.demo.report import write_report
from robot_client.local_messages import LoopStatus, PlanFailure, ReplanRecord, TickBatch

TICK_NS, STEP_NS = 10_000_000, 100_000_000


def ticks(count: int, first: int, chunk: str) -> TickBatch:
    times = np.arange(first, first + count)
    joints = np.repeat(np.sin(times / 50.0)[:, None], 14, axis=1)
    return TickBatch(
        modes=("POLICY",),
        sources=("policy",),
        chunks=(chunk,),
        first_tick=first,
        deadline_ns=times * TICK_NS,
        stamp_ns=times * TICK_NS,
        lateness_ns=np.full(count, 50_000),
        skipped=np.zeros(count, np.int32),
        mode=np.zeros(count, np.int32),
        source=np.zeros(count, np.int32),
        epoch=np.ones(count, np.int64),
        asked=joints,
        told=joints,
        measured=joints,
        measured_stamp_ns=times * TICK_NS,
        row=times * TICK_NS // STEP_NS,
        fraction=np.zeros(count),
        chunk=np.zeros(count, np.int32),
        clips=np.zeros((count, 14), np.uint8),
        intervention=np.zeros(count, np.uint8),
    )


def replan(sequence: int, branches: tuple[str, ...]) -> ReplanRecord:
    asked_ns = sequence * 4 * STEP_NS
    return ReplanRecord(
        session="s",
        epoch=1,
        sequence=sequence,
        first_row=sequence * 4,
        prefix=np.zeros((0, 14), np.float32),
        joints=np.zeros(14, np.float32),
        instruction="put the cube in the bin",
        seed=1,
        guidance="adaptive",
        asked_ns=asked_ns,
        sent_ns=asked_ns + 1_000_000,
        answered_ns=asked_ns + 60_000_000,
        image_ages_ns={"top": 20_000_000},
        resize_ns=400_000,
        rows=np.zeros((16, 14), np.float32),
        tr_value=0.1 * sequence,
        tr_density=0.4,
        tr_rank=0.5,
        masses=np.zeros((0, 0, 0, 0, 2), np.float32),
        scale_lang=0.0,
        scale_plan=0.5,
        branches_run=branches,  # type: ignore[arg-type]
        branches_dropped=(),
        durations_ns={"encode": 2_000_000, "head": 9_000_000},
        engine_id="scripted",
    )


@pytest.fixture
def history() -> History:
    kept = History("put the <cube> in the bin")
    for sequence, branches in enumerate([("full",), ("full", "noplan"), ("full", "nolang", "noplan")]):
        kept.add(replan(sequence, branches))
        kept.add(ticks(40, 40 * sequence, f"s/1/{sequence}"))
    return kept


def test_the_history_counts_rows_branches_and_ages(history: History) -> None:
    assert history.rows_executed() == 12
    assert list(history.branch_counts().values()) == [1, 1, 1]
    assert history.replan_rate_hz() == pytest.approx(2.5)
    assert history.chunk_ages_ms().max() == pytest.approx(390.0)
    assert history.unplanned_ticks() == 0
    assert history.joint_travel_rad() > 1.0
    assert set(history.stages_ms()) == {"images: fit", "server: encode", "server: head", "asked to answered"}


def test_ticks_on_a_chunk_that_nobody_answered_are_counted(history: History) -> None:
    assert history.unanswered_ticks() == 0
    history.add(ticks(5, 120, "s/1/9"))
    assert history.unanswered_ticks() == 5


def test_the_page_is_self_contained_and_escapes_text(history: History, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    write_report(page, history, {"policy": "tiny", "engine": "e<1>"}, "UNTRAINED WEIGHTS", None)
    text = page.read_text()
    assert "put the &lt;cube&gt; in the bin" in text and "UNTRAINED WEIGHTS" in text and "e&lt;1&gt;" in text
    assert text.count("<svg") == 4
    assert 'src="http' not in text and "<script" not in text and "<link" not in text


def test_a_run_without_any_replan_still_gets_a_page(tmp_path: Path) -> None:
    empty = History("put the cube in the bin")
    empty.add(PlanFailure(1, 0, "link", "no server"))
    write_report(tmp_path / "r.html", empty, {}, "", None)
    assert "No replan was answered" in (tmp_path / "r.html").read_text()


def test_modes_are_kept_once_per_change() -> None:
    kept = History("x")
    for mode in ("IDLE", "IDLE", "POLICY", "HOLD"):
        kept.add(LoopStatus(0, mode, "hold", 1, "x", "", -1, "", 0, True, {"skipped": 2}, {}, False))
    assert kept.modes == ["IDLE", "POLICY", "HOLD"] and kept.counters == {"skipped": 2}


def test_the_film_plays_and_shows_the_overview(tmp_path: Path) -> None:
    import av

    film = Film(tmp_path / "twin.mp4", 10, 90, 160)
    film.open()
    for i in range(12):
        film.add(np.full((90, 160, 3), 20 * i, np.uint8), np.zeros((64, 96, 3), np.uint8), "caption")
    film.close()
    with av.open(str(tmp_path / "twin.mp4")) as video:
        frames = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    assert len(frames) == 12
    assert frames[-1][40, 40].mean() - frames[1][40, 40].mean() == pytest.approx(200, abs=12)
