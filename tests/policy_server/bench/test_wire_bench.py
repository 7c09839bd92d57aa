"""The wire benchmark measures what it says, on few rounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contract.errors import ConfigurationError
from policy_server.bench import wire
from policy_server.bench.children import child
from policy_server.bench.masses import masses_share
from policy_server.bench.samples import Samples
from policy_server.percentiles import percentiles_ms


def test_percentiles_are_in_milliseconds() -> None:
    assert percentiles_ms([1_000_000] * 99 + [101_000_000]) == {"p50": 1.0, "p95": 1.0, "p99": 2.0}


def test_the_floor_is_two_copies_and_an_echo_and_the_stack_is_without_the_engine() -> None:
    replan = {"whole_ns": 5_000_000, "engine_ns": 2_000_000, "server_ns": 2_500_000, "branches": 3}
    report = Samples([replan] * 3, [1_000_000] * 3, [[400_000, 100_000]] * 3).report()
    assert report["stack_ms"]["p50"] == 3.0
    assert (report["floor_ms"]["p50"], report["floor_kept_ms"]["p50"]) == (1.8, 1.2)
    assert report["pipeline_ms"]["p50"] == 0.5
    assert (report["stack_over_floor_p50"], report["stack_over_floor_kept_p50"]) == (1.6667, 2.5)
    assert report["replans_by_branches"] == {"3": 3}


def test_stack_and_floor_are_measured_in_one_run_on_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    unmeasured = {"tr_share_of_head_p50": None, "tr_share_reason": "not in this test"}
    monkeypatch.setattr(wire, "masses_share", lambda bundle, rounds: unmeasured)
    out = tmp_path / "bench" / "wire.json"
    wire.bench_wire(out, 10, None)
    result: dict[str, Any] = json.loads(out.read_text())
    assert result["rounds"] == 10
    assert result["request_bytes"] > 3 * 480 * 640 * 3
    assert set(result["replans_by_branches"]) == {"3"}, "the scripted engine must make guidance run"
    assert 0 < result["echo_ms"]["p50"] < result["floor_kept_ms"]["p50"]
    assert result["stack_ms"]["p50"] > 0.5 * result["floor_kept_ms"]["p50"], "ten rounds on a busy machine"
    assert "stack / floor" in capsys.readouterr().out


def test_a_bundle_without_its_checkpoint_is_told_how_to_be_measured() -> None:
    """The graphs of another size were tried in its place, and the refusal blamed inputs."""
    told = masses_share(Path(__file__).parents[3] / "bundles" / "trained-foresight", 1)
    assert told["tr_share_of_head_p50"] is None and "--carry-checkpoint" in told["tr_share_reason"]


def test_a_process_of_the_benchmark_that_ends_is_named() -> None:

    with (
        child("policy_server.bench.no_such_module") as missing,
        pytest.raises(ConfigurationError, match="no_such_module"),
    ):
        missing.line()
