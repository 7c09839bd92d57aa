"""B16: latency numbers that are latency. Physical-Intelligence/openpi 271, conbench/conbench 528: compile time counted
as inference, device work not waited for, capture-to-action and inference-only mixed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from contract.errors import EngineError
from robot_client.clock import FakeClock
from robot_client.latency.result import result_of
from robot_client.latency.timed import Timed, time_calls
from tests.robot_client.latency.made import MS, line
from tests.robot_client.stage import info

CALLS = 200


def backend_times_ms() -> list[float]:
    """Call 1 takes 5 s, the others 50 ms +- 1 ms, one of them 800 ms."""
    random = np.random.default_rng(16)
    times = [5000.0, *random.uniform(49.0, 51.0, CALLS - 1)]
    times[117] = 800.0
    return times


class Backend:
    """Takes its time on the test's clock."""

    def __init__(self, clock: FakeClock, finish: Callable[[int], object]) -> None:
        self.clock, self.finish, self.calls = clock, finish, 0

    def __call__(self) -> object:
        self.clock.advance(round(backend_times_ms()[self.calls] * MS))
        self.calls += 1
        return self.finish(self.calls)


def test_b16_the_first_call_is_apart_and_an_outlier_is_not_hidden() -> None:
    """B16: warm-up separate, p50 50 +- 3, max 800, count and dropped said, and no mean to hide behind."""
    clock = FakeClock()
    report = time_calls(Backend(clock, lambda number: None), CALLS, clock, Timed()).report()
    assert report["warm_up_ms"] == [5000.0]
    figures = report["figures_ms"]
    assert figures["count"] == CALLS - 1
    assert figures["p50"] == pytest.approx(50.0, abs=3.0)
    assert figures["p95"] < 52.0
    assert figures["p99"] < 52.0
    assert figures["max"] == 800.0
    assert report["dropped"] == 0
    assert "mean" not in figures


def test_b16_work_that_is_done_after_the_call_returned_is_counted() -> None:
    """B16: a backend that gives a promise, resolved 40 ms later."""
    clock = FakeClock()

    class Later:
        def result(self) -> object:
            clock.advance(40 * MS)
            return None

    report = time_calls(Backend(clock, lambda number: Later()), CALLS, clock, Timed()).report()
    assert report["figures_ms"]["p50"] == pytest.approx(90.0, abs=3.0)
    assert report["warm_up_ms"] == [5040.0]


def test_b16_a_call_without_an_answer_is_counted_and_is_in_no_figure() -> None:
    """B16: dropped calls are said."""
    clock = FakeClock()

    def fails_at(number: int) -> object:
        if number == 50:
            raise EngineError("call", expected="an answer", got="none")
        return None

    report = time_calls(Backend(clock, fails_at), CALLS, clock, Timed()).report()
    assert (report["dropped"], report["figures_ms"]["count"]) == (1, CALLS - 2)


def test_b16_the_stages_of_the_whole_line_add_up_to_the_whole_within_2_ms() -> None:
    """B16: capture, encode, link, queue, policy, decode, first movement; the same backend behind the line."""
    result = result_of(line(backend_times_ms()), 400 * MS, warm_up=1)
    total = result["stage_sum"]
    assert total["left_over_ms"]["max"] <= 2.0
    assert (total["met"], total["beyond_target"], total["negative_stages"]) == (True, 0, 0)
    medians = [figures["p50"] for figures in result["stages_ms"].values()]
    assert result["end_to_end_ms"]["p50"] == pytest.approx(sum(medians), abs=2.0)
    assert result["stages_ms"]["head"]["max"] == pytest.approx(802.1), "its context and its finish are in it"
    assert result["end_to_end_ms"]["max"] > 800.0
    assert result["end_to_end_ms"]["count"] == CALLS - 1
    assert result["warm_up"]["end_to_end_ms"][0] > 5000.0
    assert result["counts"]["answers_over_budget"] == 2, "the first call and the outlier"


def test_b16_server_time_that_belongs_to_no_stage_makes_the_sum_fail() -> None:
    """B16: the sum is a check, because what no stage accounts for is in none of them."""
    total = result_of(line([50.0] * 20, forgotten_ms=3.0), 400 * MS, warm_up=1)["stage_sum"]
    assert total["left_over_ms"]["p50"] == pytest.approx(3.0)
    assert (total["met"], total["beyond_target"]) == (False, 19)


@pytest.mark.parametrize(
    ("runs_on", "gpu"),
    [("ONNX Runtime 1.32.0, CPUExecutionProvider, x86_64, 1 threads", False), ("torch 2.9, cuda:0, float32", True)],
)
def test_b16_the_result_says_whether_a_gpu_took_part(runs_on: str, gpu: bool) -> None:
    """B16: runs without one and says so."""
    server = info().model_copy(update={"runs_on": runs_on})
    said = result_of(line([50.0] * 5, server=server), 400 * MS, warm_up=1)["runs_on"]
    assert (said["gpu"], said["device"]) == (gpu, runs_on)
    assert ("no GPU" in said["note"]) is not gpu
