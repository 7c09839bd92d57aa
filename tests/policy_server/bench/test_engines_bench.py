"""The engines bench: what it writes, what it says when something is not there, and the GPU script without a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from contract.errors import ConfigurationError
from policy_server.bench.engines.bench import Plan, bench_engines
from policy_server.bench.engines.device_clock import time_calls
from policy_server.bench.engines.sizes import mid, sizes
from policy_server.bench.engines.work import work_of
from policy_server.model.graphs import graphs_of
from policy_server.model.policy import VideoActionModel, build
from policy_server.model.presets import tiny

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Two threads that spin on a busy machine take a hundred times as long as one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_a_row_for_every_graph_engine_and_number_of_branches(tmp_path: Path) -> None:
    plan = Plan(branches=(1, 2), contestants=("torch eager", "torch CUDA graph"), rounds=2)
    result = bench_engines(tmp_path / "engines.json", plan, lambda line: None)
    assert json.loads((tmp_path / "engines.json").read_text()) == result
    keys = {(row["graph"], row["branches"], row["engine"]) for row in result["rows"]}
    assert len(keys) == len(result["rows"]) == 4 * 2 * 2
    eager = [row for row in result["rows"] if row["engine"] == "torch eager"]
    assert all(0 < row["ms"]["p50"] <= row["ms"]["max"] and row["tflop_s"] > 0 for row in eager)
    assert all(row["not_measured"] == "no card" for row in result["rows"] if row["engine"] == "torch CUDA graph")


def test_work_is_counted_and_grows_with_branches() -> None:
    graph = graphs_of(build(tiny(), 0))["video_tap"]
    two = tuple(graph.inputs.values())
    one = tuple(each[:1] for each in two)
    assert work_of(graph, two).flops == 2 * work_of(graph, one).flops > 0


def test_warm_up_calls_are_not_counted() -> None:
    """B16."""
    calls: list[int] = []
    record: Callable[[], object] = lambda: calls.append(1)  # noqa: E731
    assert len(time_calls(record, torch.device("cpu"), rounds=5, warm_up=3)) == 5
    assert len(calls) == 8


def test_mid_has_about_a_hundred_million_parameters() -> None:
    with torch.device("meta"):
        model = VideoActionModel(mid(256, 256))
    assert 90e6 < sum(each.numel() for each in model.backbone.parameters()) < 120e6


def test_a_card_that_is_not_there_and_an_unknown_size_are_refused(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a card")
    with pytest.raises(ConfigurationError, match="use cpu"):
        bench_engines(tmp_path / "x.json", Plan(device="cuda"))
    with pytest.raises(ConfigurationError, match="tiny, mid, full"):
        sizes(("huge",))


def test_the_gpu_script_without_a_gpu_says_not_measured_to_every_question(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a card")
    out = tmp_path / "gpu.json"
    environment = {"PYTHON": sys.executable, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    run = subprocess.run([ROOT / "tests/gpu/check.sh", out], env=environment, capture_output=True, timeout=100)
    assert run.returncode == 0, run.stderr.decode()
    answers = json.loads(out.read_text())
    assert answers.pop("complete") is True and answers.pop("machine")
    assert set(answers) == {"parity", "engines tiny", "engines mid", "engines full", "tensorrt", "tensorrt_rtx"}
    assert all(answer["not_measured"] for answer in answers.values())
