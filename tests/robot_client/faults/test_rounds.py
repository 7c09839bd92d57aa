"""One round of faults on real processes: a stop in time, and no row that should not have run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.errors import ConfigurationError
from robot_client.faults import round as one_round
from robot_client.faults.case import CASES
from robot_client.faults.matrix import MOST_HOLD_MS, chosen, failures, run_matrix, summary
from robot_client.faults.round import run_round
from robot_client.faults.stage import Stage
from tests.waiting import STANDSTILL_S


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


@pytest.mark.parametrize("name", ["kill server", "nan client", "slow link", "stale link"])
def test_a_round_ends_in_a_stop_and_runs_no_wrong_row(stage: Stage, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """B13, B14, B23: whatever dies, freezes or lies, valid rows run, the arms brake, and nothing stale moves them."""
    monkeypatch.setattr(one_round, "MOST_S", one_round.MOST_S + STANDSTILL_S)
    (case,) = chosen([name])
    stage.fit_robot(case.inject)
    outcomes = [run_round(stage, case) for _ in range(2)]
    entry = summary(case, outcomes)
    assert (entry["stale_rows_executed"], entry["steps_over_limit"], entry["moved_while_standing"]) == (0, 0, 0)
    assert entry["stopped"] == 2 and entry["stopped_in"] == (["FAULT"] if name == "nan client" else ["HOLD"])
    assert entry["hold_ms_p99"] <= MOST_HOLD_MS
    assert entry["detect_ms_p50"] is not None


def test_every_fault_of_the_issue_is_there_and_names_are_checked() -> None:
    names = {case.fault for case in CASES}
    assert names == {"kill", "freeze", "cut", "slow", "nan", "stale", "swap", "reorder"}
    assert {case.place for case in CASES} == {"server", "client", "link"}
    assert {case.name for case in chosen(["kill"])} == {"kill server", "kill client"}
    with pytest.raises(ConfigurationError, match="earthquake"):
        chosen(["earthquake"])


def test_harm_is_told_in_one_line_each(tmp_path: Path) -> None:
    fault = {"rounds": 50, "stale_rows_executed": 2, "steps_over_limit": 0, "moved_while_standing": 1}
    fault |= {"stopped": 49, "must_stop": True}
    lines = failures({"rounds_of_each": 50, "faults": {"kill server": fault}})
    assert len(lines) == 3 and all(line.startswith("kill server: ") for line in lines)
    with pytest.raises(ConfigurationError):
        run_matrix(tmp_path / "f.json", 0, CASES, print)


def test_the_results_say_what_was_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_round, "MOST_S", one_round.MOST_S + STANDSTILL_S)
    result = run_matrix(tmp_path / "out" / "faults.json", 1, chosen(["cut link"]), lambda line: None)
    written = json.loads((tmp_path / "out" / "faults.json").read_text())
    assert written == result and failures(result) == []
    entry = written["faults"]["cut link"]
    assert {"rounds", "stale_rows_executed", "steps_over_limit", "hold_ms_p99"} <= set(entry)
    assert "proxy" in entry["real"] and "real processes" in written["rig"]


def test_the_nursery_is_a_fresh_interpreter(stage: Stage) -> None:
    """It was forked from its owner, and hung with the locks of threads that earlier tests had left there."""
    nursery = stage._nursery._process.pid
    assert b"robot_client.faults.nursery" in Path(f"/proc/{nursery}/cmdline").read_bytes()
