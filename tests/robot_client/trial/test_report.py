"""The report of a trial: figures from the bags, and refusals to put together what does not belong together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from robot_client.trial.command import show_report
from robot_client.trial.errors import TrialError
from robot_client.trial.opened import is_opened
from robot_client.trial.outcome import EPISODES, outcomes_in, write_outcome
from robot_client.trial.outcome import NAME as OUTCOME
from robot_client.trial.report import report_of
from tests.robot_client.stage import info
from tests.robot_client.trial.folder import episode_of, finish, outcome_of, trial_in


def test_success_differences_and_ratios_come_out_of_the_bags(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trial = trial_in(tmp_path)
    finish(tmp_path, trial)
    report = report_of(tmp_path)
    off, adaptive = report["methods"]["off"], report["methods"]["adaptive"]
    assert (off["success"]["successes"], off["success"]["trials"]) == (1, 3)
    assert (adaptive["success"]["successes"], adaptive["success"]["trials"]) == (3, 3)
    assert 0.0 < adaptive["success"]["low"] < 1.0 == adaptive["success"]["high"]
    assert off["temporal_ratio"]["success"] == {"runs": 1, "p25": 1.0, "p50": 1.0, "p75": 1.0}
    assert off["temporal_ratio"]["failure"]["runs"] == 2
    assert adaptive["temporal_ratio"]["failure"] is None
    pair = report["differences"]["adaptive - off"]
    assert (pair["layouts"], pair["only_first"], pair["only_second"]) == (3, 2, 0)
    assert pair["difference"] == pytest.approx(2 / 3)
    assert report["order"] == [run.method for run in trial.runs()]
    assert json.loads((tmp_path / "report.json").read_text()) == report
    assert show_report(tmp_path, unfinished=False) == 0
    assert "only the first succeeded on 2" in capsys.readouterr().out


def test_runs_that_the_robot_stopped_are_named_with_their_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a starved machine all four failures of a trial were late joints, and the report had only rates."""
    trial = trial_in(tmp_path)
    finish(tmp_path, trial)
    run = next(run for run in trial.runs() if run.method == "off")
    bag, before = outcomes_in(tmp_path, trial.id)[run.number]
    (bag / OUTCOME).unlink()
    write_outcome(bag, before.model_copy(update={"success": False, "stopped": "HOLD: joints are 209 ms old"}))
    assert show_report(tmp_path, unfinished=False) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        f"off: 1 run was stopped by the robot itself and counts as a failure (run {run.number + 1}: HOLD: joints are"
        in said
    )
    assert "adaptive: 1 run was" not in said


def test_an_unfinished_trial_keeps_its_seal_unless_it_is_to_end(tmp_path: Path) -> None:
    trial = trial_in(tmp_path)
    run = trial.runs()[0]
    write_outcome(episode_of(tmp_path, trial, run, 1.0), outcome_of(trial, run, True))
    with pytest.raises(TrialError, match="5 of 6 missing"):
        report_of(tmp_path)
    assert not is_opened(tmp_path) and not (tmp_path / "report.json").exists()
    report = report_of(tmp_path, unfinished=True)
    assert (report["runs"], report["runs_missing"]) == (1, 5)
    assert is_opened(tmp_path)


@pytest.mark.parametrize(
    ("change", "named"),
    [({"weights_hash": "f" * 64}, "weights"), ({"engine_id": "another/1"}, "engine"), ({"model_id": "b"}, "policy")],
)
def test_runs_of_another_policy_are_not_put_together(tmp_path: Path, change: dict[str, str], named: str) -> None:
    trial = trial_in(tmp_path)
    finish(tmp_path, trial, info().model_copy(update=change))
    with pytest.raises(TrialError, match=named):
        report_of(tmp_path)


def test_runs_on_another_station_are_not_put_together(tmp_path: Path) -> None:
    trial = trial_in(tmp_path)
    finish(tmp_path, trial)
    path = tmp_path / "trial.json"
    path.write_text(path.read_text().replace(trial.identity.station_sha256, "0" * 64))
    with pytest.raises(TrialError, match="station"):
        report_of(tmp_path)


def test_a_bag_that_ran_another_method_than_was_drawn_is_refused(tmp_path: Path) -> None:
    trial = trial_in(tmp_path)
    run = trial.runs()[0]
    swapped = replace(run, method="off" if run.method == "adaptive" else "adaptive")
    write_outcome(episode_of(tmp_path, trial, swapped, 1.0), outcome_of(trial, swapped, True))
    with pytest.raises(TrialError, match="guidance"):
        report_of(tmp_path, unfinished=True)


def test_outcomes_of_another_trial_and_two_of_one_run_are_refused(tmp_path: Path) -> None:
    trial = trial_in(tmp_path)
    run = trial.runs()[0]
    for number in range(2):
        folder = tmp_path / EPISODES / f"episode_{number:06}"
        folder.mkdir(parents=True)
        write_outcome(folder, outcome_of(trial, run, True))
    with pytest.raises(TrialError, match="one outcome a run"):
        report_of(tmp_path, unfinished=True)
    stranger = outcome_of(trial.model_copy(update={"id": "stranger"}), run, True)
    (folder / "outcome.json").write_text(stranger.model_dump_json())
    with pytest.raises(TrialError, match="stranger"):
        report_of(tmp_path, unfinished=True)


def test_an_outcome_is_never_written_over(tmp_path: Path) -> None:
    trial = trial_in(tmp_path)
    run = trial.runs()[0]
    write_outcome(tmp_path, outcome_of(trial, run, True))
    with pytest.raises(TrialError, match="new file"):
        write_outcome(tmp_path, outcome_of(trial, run, False))
