"""The policy as the server holds it: what it says of itself, what it imports, what it measures."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from contract.check_answer import check_chunk
from contract.types import GuidanceScales
from policy_server.bench.replan import bench_replan, measure, summary
from policy_server.engines.scripted_manifest import scripted_manifest
from policy_server.policy import Policy
from policy_server.text import KEPT
from tests.policy_server.pipeline import SMALL, Bench, ask

SHIPPED = Path(__file__).parents[2] / "bundles" / "trained-foresight"


def test_it_says_what_it_is_what_it_needs_and_how_it_is_calibrated():
    one = Bench()
    info = one.policy.info("LOADING")
    assert (info.state, info.calibration, info.model_id, info.trained) == ("LOADING", "CALIBRATED", "scripted", False)
    assert info.cameras == SMALL and info.horizon == 16 and info.max_prefix == 8
    assert info.engine_id == one.engine.id and "no model" in info.runs_on
    assert Bench(scripted_manifest(SMALL, calibrated=False)).policy.info("READY").calibration == "UNCALIBRATED"


def test_costs_are_unknown_until_warm_up_and_warm_up_leaves_answers_alone():
    one = Bench()
    assert one.policy.info("LOADING").costs_ns == {"branches_1": 0}
    before = one.replan()
    one.policy.warm_up()
    assert set(one.policy.info("READY").costs_ns) == {"branches_1", "branches_2", "branches_3"}
    assert np.array_equal(before.rows, one.replan().rows)


def test_kept_instructions_are_bounded_and_come_back_the_same():
    one = Bench()
    words = [word for word in one.manifest.text.vocabulary]
    first = one.replan(instruction=words[0])
    for a in words[:6]:
        for b in words[:6]:
            one.replan(instruction=f"{a} {b}", guidance="off")
    calls = len(one.engine.batches["text"])
    assert calls > KEPT
    assert np.array_equal(one.replan(instruction=words[0]).rows, first.rows)
    assert len(one.engine.batches["text"]) > calls, "the oldest was given up and is computed again"


def test_the_shipped_bundle_answers_on_onnx_runtime_and_imports_neither_torch_nor_diffusers():
    script = f"""
import sys
from policy_server.policy import Policy
from policy_server.warm_up import neutral_observation
policy = Policy.load({str(SHIPPED)!r}, threads=1)
policy.warm_up()
policy.replan(neutral_observation(policy.manifest), lambda: 0)
print(*sorted({{"torch", "diffusers", "onnx"}} & set(sys.modules)), "done")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["done"], done.stderr


@pytest.fixture(scope="module")
def shipped() -> Policy:
    policy = Policy.load(SHIPPED, threads=1)
    policy.warm_up()
    return policy


@pytest.mark.parametrize("given", [0, 1, 8])
def test_answers_of_the_shipped_bundle_pass_the_client_s_check_with_any_prefix(shipped, given):
    prefix = np.repeat(np.array([shipped.manifest.state.offset], np.float32), given, axis=0)
    asked = ask(shipped.manifest, prefix=prefix)
    for chunk in (
        shipped.replan(asked, lambda: 0),
        shipped.replan_forced(asked, GuidanceScales(1.0, 1.0)),
    ):
        check_chunk(chunk, asked, shipped.info("READY"))


def test_seed_image_state_prompt_and_prefix_each_change_the_shipped_bundle_s_chunk(shipped):
    """B47: nothing that should vary was frozen by the export."""
    asked = ask(shipped.manifest, instruction="put the red ball in the bowl", guidance="off")
    base = shipped.replan(asked, lambda: 0).rows
    assert np.array_equal(base, shipped.replan(asked, lambda: 0).rows)
    inverse = {role: 255 - image for role, image in asked.images.items()}
    for change in (
        {"seed": 12},
        {"images": inverse},
        {"joints": asked.joints + np.float32(0.1)},
        {"instruction": "put the blue cube on the plate"},
    ):
        fields = {"instruction": asked.instruction, "guidance": "off", **change}
        assert np.abs(shipped.replan(ask(shipped.manifest, **fields), lambda: 0).rows - base).max() > 1e-5, change


def test_a_bench_of_replans_takes_the_sets_of_branches_in_turn():
    one = Bench()
    results = measure(one.policy, 3)
    assert {branches: entry["count"] for branches, entry in results.items()} == {
        "full": 3, "full+nolang": 3, "full+noplan": 3, "full+nolang+noplan": 3
    }  # fmt: skip


def test_a_summary_shows_the_outlier_and_the_part_outside_the_engine():
    """B16: the one slow replan is not hidden by a mean."""
    spent = [{"total": 50_000_000, "engine": 48_000_000}] * 199 + [{"total": 800_000_000, "engine": 48_000_000}]
    told = summary(spent)
    assert told["count"] == 200 and told["total_ms"]["p50"] == 50 and told["total_ms"]["max"] == 800
    assert told["stack_ms"]["p50"] == pytest.approx(2)


def test_the_bench_writes_what_it_ran_on(tmp_path, capsys):
    results = bench_replan(SHIPPED, rounds=2, json=tmp_path / "deep" / "replan.json")
    assert (tmp_path / "deep" / "replan.json").stat().st_size > 500
    assert "CPUExecutionProvider" in results["runs_on"] and "warm-up" in capsys.readouterr().out
