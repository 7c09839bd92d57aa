"""The engines bench: what it writes, what it says when something is not there, and the GPU script without a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from contract.errors import ConfigurationError
from policy_server.bench.engines.bench import bench_engines
from policy_server.bench.engines.device_clock import time_calls
from policy_server.bench.engines.plan import Plan
from policy_server.bench.engines.results import open_results
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
    engines = ("torch eager", "torch CUDA graph", "whole loops")
    plan = Plan(branches=(1, 2), canvases=(), engines=engines, rounds=2)
    result = bench_engines(tmp_path / "engines.json", plan, lambda line: None)
    assert json.loads((tmp_path / "engines.json").read_text()) == result
    keys = {(row["graph"], row["branches"], row["engine"]) for row in result["rows"]}
    graphs = 4 * 2 + 2  # encode and decode know no branches
    assert len(keys) == len(result["rows"]) == 2 * graphs + 2
    replans = [row for row in result["rows"] if row["graph"] == "replan"]
    assert [row["branches"] for row in replans] == [1, 2] and replans[1]["gflop"] > 2 * replans[0]["gflop"]
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


def test_the_tap_reads_the_weights_of_its_blocks_and_no_others() -> None:
    """Its least traffic was said to be the whole backbone's, which flattered every engine."""
    graphs = graphs_of(build(tiny(), 0))
    works = {name: work_of(graphs[name], tuple(graphs[name].inputs.values())) for name in ("video_tap", "video_step")}
    whole = sum(each.nbytes for each in graphs["video_step"].module.owner.parameters())
    assert works["video_step"].weight_bytes == whole
    assert 0.4 * whole < works["video_tap"].weight_bytes < 0.8 * whole, "two blocks of three"


def test_fused_attention_is_counted_like_the_plain_one() -> None:
    """torch does not count its own CPU kernel: a fused backbone seemed to do a third of its work."""
    plain = tiny().backbone
    fused = tiny().model_copy(update={"backbone": plain.model_copy(update={"kernel": "fused"})})
    works = []
    for config in (tiny(), fused):
        graph = graphs_of(build(config, 0))["video_tap"]
        works.append(work_of(graph, tuple(graph.inputs.values())).flops)
    assert works[0] == works[1]


def test_slow_work_is_timed_fewer_times_and_never_fewer_than_three() -> None:
    def slow() -> None:
        time.sleep(0.02)

    assert len(time_calls(slow, torch.device("cpu"), rounds=30, warm_up=1, most_s=0.01)) == 3
    assert len(time_calls(lambda: None, torch.device("cpu"), rounds=30, warm_up=1, most_s=1.0)) == 30


def test_rows_of_an_earlier_call_on_the_same_machine_are_kept(tmp_path: Path) -> None:
    """Engines are timed in several calls, each short; a call for one of them may not lose the others' rows."""
    out = tmp_path / "engines.json"
    about = {"device": "CPU", "threads": 1, "peaks": {"tflop_s": 2.0, "gb_s": 4.0}}
    first = open_results(out, about, ("device", "threads"))
    row = {"size": "tiny", "graph": "text", "branches": 1, "engine": "a", "tflop_s": 1.0, "gb_s": 2.0}
    first.add({**row, "ms": 1})
    first.add({**row, "engine": "b", "ms": 2})
    faster = {**about, "peaks": {"tflop_s": 4.0, "gb_s": 1.0}}
    again = open_results(out, faster, ("device", "threads"))
    again.add({**row, "ms": 3})
    assert [one["ms"] for one in json.loads(out.read_text())["rows"]] == [3, 2]
    assert {one["share_of_peak_tflop_s"] for one in again.content["rows"]} == {0.25}, "of the highest peak seen"
    assert {one["share_of_peak_gb_s"] for one in again.content["rows"]} == {0.5}
    again.add({**row, "engine": "c", "tflop_s": 8.0})
    assert again.peaks["tflop_s"] == 8.0, "no row is above the peak: a busy machine's peak was half of what it can"
    other = open_results(out, {**about, "device": "another"}, ("device", "threads"))
    assert other.content["rows"] == []
    out.write_text("no json")
    assert open_results(out, about, ("device",)).content["rows"] == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"device": "cuda"}, "use cpu"),
        ({"sizes": ("huge",)}, "tiny, mid, full"),
        ({"sizes": ("full",)}, "tiny or mid on a CPU"),
        ({"canvases": ("256",)}, "HEIGHTxWIDTH"),
        ({"canvases": ("250x256",)}, "multiples of 16"),
        ({"engines": ("warp",)}, "torch eager"),
        ({"branches": (4,)}, "1, 2 or 3"),
        ({"rounds": 0}, "1 or more"),
    ],
)
def test_what_cannot_be_timed_is_refused(tmp_path: Path, changed: dict[str, object], said: str) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a card")
    with pytest.raises(ConfigurationError, match=said):
        bench_engines(tmp_path / "x.json", Plan(**changed))  # type: ignore[arg-type]
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize("name", ["tiny", "mid", "full"])
def test_every_size_has_a_whole_number_of_tokens_on_both_canvases(name: str) -> None:
    tokens = {label: config.token_grid[1] * config.token_grid[2] for label, config in sizes((name,))}
    assert tokens[f"{name} 256x256"] == 256 and tokens[f"{name} 480x640"] == 1200


def test_the_gpu_script_without_a_gpu_says_not_measured_to_every_question(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a card")
    out = tmp_path / "gpu.json"
    environment = {"PYTHON": sys.executable, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    run = subprocess.run([ROOT / "tests/gpu/check.sh", out], env=environment, capture_output=True, timeout=280)
    assert run.returncode == 0, run.stderr.decode()
    answers = json.loads(out.read_text())
    assert answers.pop("complete") is True and answers.pop("machine")
    asked = {"parity", "loops", "fused attention", "loops compiled", "engines tiny", "engines mid", "engines full"}
    assert set(answers) == asked | {"engines mid compiled", "engines full compiled", "tensorrt", "tensorrt_rtx"}
    assert all(answer["not_measured"] for answer in answers.values())
