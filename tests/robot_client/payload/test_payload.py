"""The payload bench on one small size."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from contract.errors import ConfigurationError
from robot_client.payload import command, openpi_env
from robot_client.payload.jpeg import jpeg_cost
from robot_client.payload.processes import process
from robot_client.payload.sweep import Plan, rows_of

SMALL = Plan(calls=10, policy_ms=5.0, far_ms=15.0, sizes=((32, 48),))
needs_server = pytest.mark.skipif(importlib.util.find_spec("onnxruntime") is None, reason="no server side here")


@needs_server
def test_near_and_far_are_measured_with_the_policy_in_them() -> None:
    near, far = rows_of(SMALL, None)
    assert near["ours_ms"]["count"] == far["ours_ms"]["count"] == 10
    assert near["ours_ms"]["p50"] >= 5.0, "the pretended policy's time"
    assert far["ours_ms"]["p50"] >= 35.0, "and 15 ms each way"
    assert "openpi_ms" not in near
    for row in (near, far):
        jpeg = row["jpeg"]
        parts = [jpeg[name]["p50"] for name in ("trip_of_its_bytes_ms", "encode_ms", "decode_ms")]
        assert jpeg["round_trip_p50_ms"] == pytest.approx(sum(parts), abs=1e-3)


def test_jpeg_is_smaller_and_the_network_it_pays_on_is_said() -> None:
    cost = jpeg_cost(120, 160, 3)
    assert cost["raw_bytes"] == 3 * 120 * 160 * 3
    assert cost["jpeg_bytes"] < cost["raw_bytes"] / 3
    assert cost["pays_below_mbit_s"] > 0


def test_without_openpis_client_there_is_a_reason_and_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network() -> tuple[Path, str]:
        raise ConfigurationError("openpi's client", expected="pip install openpi-client", got="no network")

    monkeypatch.setattr(command, "interpreter", no_network)
    monkeypatch.setattr(command, "rows_of", lambda plan, python: [{"height": 32, "width": 48, "ours_ms": None}])
    payload = command.bench_payload(SMALL)
    assert payload["openpi_over_ours_p50"] is None
    assert "no network" in payload["openpi_reason"]
    result: dict[str, object] = {}
    command.add_payload(result, payload)
    assert result["openpi_over_ours_p50"] is None and "no network" in str(result["openpi_reason"])


def test_an_environment_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no_python"))
    with pytest.raises(ConfigurationError, match=r"openpi-client.*no_python"):
        openpi_env.interpreter(tmp_path / "venv")


@pytest.mark.parametrize("plan", [Plan(calls=1), Plan(policy_ms=float("nan")), Plan(far_ms=-1.0)])
def test_what_cannot_be_measured_is_refused(plan: Plan) -> None:
    with pytest.raises(ConfigurationError):
        command.bench_payload(plan, openpi=False)


def test_a_process_that_ends_is_named_with_its_last_words() -> None:
    ends = [sys.executable, "-c", "raise SystemExit('no more')"]
    with (
        process("the one that ends", ends) as gone,
        pytest.raises(ConfigurationError, match=r"the one that ends.*no more"),
    ):
        gone.line()


@needs_server
@pytest.mark.skipif(not (openpi_env.FOLDER / "bin/python").is_file(), reason="made by yam-robot bench payload")
def test_both_sides_answer_the_same_payload_in_one_run() -> None:
    python, versions = openpi_env.interpreter()
    (row,) = rows_of(Plan(calls=10, policy_ms=5.0, far_ms=0.0, sizes=((32, 48),)), python)
    assert row["openpi_ms"]["count"] == row["ours_ms"]["count"] == 10
    assert min(row["openpi_ms"]["p50"], row["ours_ms"]["p50"]) >= 5.0
    assert row["openpi_over_ours_p50"] > 0
    assert versions.startswith("openpi-client ")
