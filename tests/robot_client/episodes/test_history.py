"""The history read from an episode is the history that the run itself kept."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from contract.errors import EpisodeError
from robot_client.demo.history import History
from robot_client.episodes.history import EpisodeHistory
from robot_client.ticks import batch_of
from tests.robot_client.episodes import made
from tests.robot_client.episodes.test_reader import sqlite_bag


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[History, History]:
    """As kept by the supervisor, and as read from the file."""
    recording, kept = made.Recording(tmp_path_factory.mktemp("episodes")), History("go")
    for sequence in range(4):
        _, answer = recording.replan(sequence)
        kept.add(answer)
        recording.clock.advance(400_000_000)
    for start in range(0, 600, 20):
        kept.add(batch_of([made.tick(n) for n in range(start, start + 20)], start))
    recording.ticks(600)
    assert recording.close().complete
    told = EpisodeHistory(recording.folder)
    told.read()
    return kept, told.history


@pytest.mark.parametrize("column", ["deadline_ns", "stamp_ns", "lateness_ns", "skipped", "epoch", "row", "clips"])
def test_every_tick_is_the_same(pair: tuple[History, History], column: str) -> None:
    kept, told = pair
    np.testing.assert_array_equal(told.column(column), kept.column(column))


def test_joints_chunks_and_replans_are_the_same(pair: tuple[History, History]) -> None:
    kept, told = pair
    for then, now in zip(kept.joints(), told.joints(), strict=True):
        np.testing.assert_allclose(now, then, atol=1e-12)
    assert told.rows_executed() == kept.rows_executed() == 60
    assert told.branch_counts() == kept.branch_counts()
    assert told.stages_ms().keys() == kept.stages_ms().keys()
    assert [replan.rows.tobytes() for replan in told.replans] == [replan.rows.tobytes() for replan in kept.replans]
    assert told.instruction == "go" and told.modes == ["POLICY"]


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="the report needs matplotlib")
def test_the_kept_episode_gives_a_page(tmp_path: Path) -> None:
    from robot_client.episodes.command import report

    report(Path(__file__).parent / "reference" / "episode", tmp_path / "sub" / "report.html")
    page = (tmp_path / "sub" / "report.html").read_text()
    assert "onnxruntime" in page, "the engine that answered"
    assert len(page) > 50_000, "with its charts"


def test_a_bag_of_somebody_else_has_no_history(tmp_path: Path) -> None:
    with pytest.raises(EpisodeError, match="another bag"):
        EpisodeHistory(sqlite_bag(tmp_path / "bag", 5, definitions=False)).read()
