"""Recorded questions asked again: equal when the policy is the same, named when it is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from contract.errors import ConfigurationError, EngineError, EpisodeError
from contract.types import BRANCHES, ActionChunk, GuidanceScales, Observation, TemporalRatio
from robot_client.episodes.policy_command import PolicyReplaySettings
from robot_client.episodes.policy_replay import Compared, replay
from robot_client.episodes.policy_report import PolicyReport, Tolerance
from robot_client.episodes.reader import BagReader
from robot_client.episodes.references import accept, read_references
from robot_client.episodes.replans import LoggedReplan, ReplanReader
from tests.robot_client.episodes import made

SAME = Tolerance(1e-5, 1e-4)


class Policy:
    """Answers as `made.answer_to`, off by what it is told to be. Keeps what it was asked."""

    def __init__(self, rows_off: float = 0.0, tr_factor: float = 1.0, fails_at: int = -1) -> None:
        self.rows_off, self.tr_factor, self.fails_at = rows_off, tr_factor, fails_at
        self.asked: list[Observation] = []

    def submit(self, observation: Observation, budget_ms: float | None = None) -> int:
        self.asked.append(observation)
        return len(self.asked) - 1

    def wait_for(self, request_id: int) -> ActionChunk:
        asked = self.asked[request_id]
        if asked.sequence == self.fails_at:
            raise EngineError("engine", expected="finite rows", got="nan")
        record = made.answer_to(asked)
        reading = TemporalRatio(record.tr_value * self.tr_factor, record.tr_density, float("nan"), record.masses)
        return ActionChunk(
            session=asked.session,
            epoch=asked.epoch,
            sequence=asked.sequence,
            observation_stamp_ns=asked.stamp_ns,
            first_row=asked.first_row,
            rows=record.rows + np.float32(self.rows_off),
            temporal_ratio=reading,
            scales=GuidanceScales(record.scale_lang, record.scale_plan),
            branches_run=asked.branches,
            branches_dropped=(),
            durations_ns={},
            engine_id="other",
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.record(tmp_path_factory.mktemp("episodes"), ticks=100, replans=5)


def logged(folder: Path) -> list[LoggedReplan]:
    return list(ReplanReader(BagReader(folder)).replans())


def compared(folder: Path, policy: Policy, tolerance: Tolerance = SAME) -> PolicyReport:
    return PolicyReport(replay(logged(folder), policy, "replay"), tolerance, "a", "b")


def test_the_same_policy_is_equal_to_the_bit(folder: Path) -> None:
    report = compared(folder, Policy(), Tolerance(0.0, 0.0))
    assert len(report.compared) == 5 and report.passed
    assert all(one.equal for one in report.compared)


def test_a_question_is_asked_as_it_was_but_for_what_time_decided(folder: Path) -> None:
    """Budget and queue decided which branches ran; asking for those that did makes the answer the same."""
    policy = Policy()
    replay(logged(folder), policy, "replay")
    for sequence, asked in enumerate(policy.asked):
        sent = made.observation(sequence, asked.stamp_ns)
        assert asked.budget_ns == 0 and asked.branches == ("full", "noplan")
        assert (asked.seed, asked.first_row, asked.guidance) == (sent.seed, sent.first_row, sent.guidance)
        assert asked.prefix.tobytes() == sent.prefix.tobytes() and asked.joints.tobytes() == sent.joints.tobytes()
        assert all((asked.images[role] == sent.images[role]).all() for role in sent.images)


def test_another_guidance_lets_all_branches_run(folder: Path) -> None:
    policy = Policy()
    replay(logged(folder), policy, "replay", guidance="off")
    assert {asked.guidance for asked in policy.asked} == {"off"}
    assert {asked.branches for asked in policy.asked} == {BRANCHES}


@pytest.mark.parametrize("policy", [Policy(rows_off=1e-3), Policy(tr_factor=1.01)])
def test_a_policy_that_is_off_fails_and_is_measured(folder: Path, policy: Policy, tmp_path: Path) -> None:
    report = compared(folder, policy)
    assert not report.passed and len(report.outside) == 5
    report.write_json(tmp_path / "report.json")
    content = json.loads((tmp_path / "report.json").read_text())
    assert content["passed"] is False and content["outside"] == 5 and content["equal"] == 0
    assert content["rows_off_max"] == pytest.approx(policy.rows_off, abs=1e-6)
    assert content["tr_off_max"] == pytest.approx(policy.tr_factor - 1.0, abs=1e-6)
    assert PolicyReport(report.compared, Tolerance(2e-3, 0.02), "a", "b").passed


def test_a_policy_that_fails_once_fails_the_replay_and_is_quoted(folder: Path, tmp_path: Path) -> None:
    report = compared(folder, Policy(fails_at=2), Tolerance(1e9, 1e9))
    assert [one.id for one in report.outside] == ["s/3/2"]
    console = Console(record=True, width=200)
    report.show(console)
    assert "expected finite rows" in console.export_text()
    report.write_json(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["compared"][2]["rows_off"] is None


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_that_are_no_numbers_are_never_within(value: float) -> None:
    one = Compared("s/0/0", 0, value, 1.0, 1.0, 0.0, ("full",), ("full",), False)
    assert not one.within(1e9, 1e9)
    assert not replace(one, rows_off=0.0, tr_is=value).within(1e9, 1e9)


def test_nothing_to_compare_is_no_success() -> None:
    assert not PolicyReport([], SAME, "a", "b").passed


def test_accepted_answers_take_the_place_of_the_recorded_ones(folder: Path, tmp_path: Path) -> None:
    changed = Policy(rows_off=0.25)
    path = tmp_path / "answers.json"
    assert len(accept(path, logged(folder), changed, "replay", "w")) == 5
    weights, answers = read_references(path)
    assert weights == "w"
    assert all(one.equal for one in replay(logged(folder), changed, "replay", answers))
    assert not any(one.equal for one in replay(logged(folder), Policy(), "replay", answers))


def test_a_broken_reference_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text('{"answers": 3}')
    with pytest.raises(EpisodeError, match=r"answers\.json"):
        read_references(tmp_path / "answers.json")


def test_questions_without_an_answer_are_given_but_not_compared(tmp_path: Path) -> None:
    recording = made.Recording(tmp_path)
    recording.planner(made.observation(0, recording.clock.now_ns()))
    recording.replan(1)
    recording.ticks(20)
    recording.close()
    replans = logged(recording.folder)
    assert sorted((replan.observation.sequence, replan.answered is None) for replan in replans) == [
        (0, True),
        (1, False),
    ]
    assert [one.id for one in replay(replans, Policy(), "replay")] == ["s/3/1"]


@pytest.mark.parametrize("server, bundle", [("", None), ("tcp://127.0.0.1:1", Path("b"))])
def test_one_policy_must_be_named(server: str, bundle: Path | None) -> None:
    settings = PolicyReplaySettings(Path(), server, bundle, 1, SAME, None, None, False, Path())
    with pytest.raises(ConfigurationError, match="policy"):
        settings.check()
