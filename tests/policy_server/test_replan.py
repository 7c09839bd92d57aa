"""One replan: two passes, branches, budget, and what is never an answer."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.errors import EngineError, FieldError, VocabularyError
from contract.layout import SIZE
from contract.types import BRANCHES, ActionChunk, GuidanceScales
from policy_server.engines.scripted import Fault
from policy_server.engines.scripted_policy import Script, scripted_manifest
from policy_server.policy import Policy
from tests.policy_server.pipeline import SMALL, Bench, ask, rows_like

MS = 1_000_000
HEADS = ["action_step", "context"]
LOW, MIDDLE, HIGH = 0.05, 0.3, 0.5
"""Mass on F with 0.5 on C: ranks 0.1 (no guidance), 0.6 (half), 1 (full)."""


def bench(masses_from: str = "action_step", future_mass: float = MIDDLE, **settings: object) -> Bench:
    manifest = scripted_manifest(SMALL, masses_from, **settings)
    return Bench(manifest, Script(influence=0.1, future_mass=future_mass))


def same_answer(a: ActionChunk, b: ActionChunk) -> bool:
    return np.array_equal(a.rows, b.rows) and a.scales == b.scales and a.branches_run == b.branches_run


@pytest.fixture(params=HEADS)
def kind(request) -> str:
    return request.param


def test_the_answer_carries_what_the_question_said(kind):
    one = bench(kind)
    asked = ask(one.manifest, session="arm-7", epoch=4, sequence=9, stamp_ns=123, first_row=50)
    chunk = one.replan(asked)
    assert (chunk.session, chunk.epoch, chunk.sequence) == ("arm-7", 4, 9)
    assert (chunk.observation_stamp_ns, chunk.first_row, chunk.engine_id) == (123, 50, one.engine.id)
    assert chunk.rows.shape == (16, SIZE) and chunk.rows.dtype == np.float32


def test_rows_that_the_policy_means_are_the_rows_that_come(kind):
    one = bench(kind)
    rows = rows_like(np.zeros(SIZE), 16)
    one.script.rows, one.script.influence = rows, 0.0
    np.testing.assert_allclose(one.replan().rows, rows, atol=1e-6)
    np.testing.assert_allclose(one.replan(prefix=rows[:5]).rows, rows[5:], atol=1e-6)


def test_tr_is_read_from_the_conditional_branch_at_every_step(kind):
    one = bench(kind, future_mass=HIGH)
    reading = one.replan().temporal_ratio
    steps = 1 if kind == "context" else one.manifest.head.flow_steps
    assert reading.value == 1.0 and reading.rank == 1.0 and reading.density == 0.5
    assert reading.masses.shape[0] == steps and reading.masses.shape[2:] == (3, 16, 2)


@pytest.mark.parametrize("future_mass", [LOW, MIDDLE, HIGH])
def test_unguided_is_bit_identical_whether_or_not_guidance_code_ran(kind, future_mass):
    """Pass 1's rows are the answer when scales are zero, for whatever reason they are."""
    one = bench(kind, future_mass=future_mass)
    off = one.replan(guidance="off")
    alone = one.replan(branches=("full",))
    forced = one.policy.replan_forced(ask(one.manifest), GuidanceScales(0.0, 0.0))
    tight = one.policy.replan(ask(one.manifest, budget_ns=1), lambda: 2)
    one.script.future_mass = LOW
    zero = one.replan()
    for other in (alone, forced, tight, zero):
        assert np.array_equal(off.rows, other.rows)
    uncalibrated = Bench(scripted_manifest(SMALL, kind, calibrated=False), one.script)
    assert np.array_equal(uncalibrated.replan().rows, off.rows)


def test_guidance_moves_the_rows_and_each_branch_has_its_part(kind):
    one = bench(kind)
    rows = {
        branches: one.replan(branches=branches).rows
        for branches in (("full",), ("full", "nolang"), ("full", "noplan"), BRANCHES)
    }
    values = list(rows.values())
    assert all(not np.allclose(a, b, atol=1e-4) for i, a in enumerate(values) for b in values[:i])


def test_a_branch_at_zero_does_not_run(kind):
    """Skipped, not computed and weighed with zero."""
    one = bench(kind, future_mass=LOW)
    chunk = one.replan()
    assert chunk.branches_run == ("full",) and chunk.branches_dropped == ()
    assert one.engine.batches["video_tap"] == [1] and one.engine.batches["context"] == [1]
    assert set(one.engine.batches["action_step"]) == {1}
    assert len(one.engine.batches["action_step"]) == one.manifest.head.flow_steps


def test_pass_two_is_one_batch_and_repeats_only_the_flow_steps():
    one = bench(future_mass=HIGH)
    assert one.replan().branches_run == BRANCHES
    steps = one.manifest.head.flow_steps
    assert one.engine.batches["action_step"] == [1] * steps + [3] * steps
    assert one.engine.batches["encode"] == [1]
    assert one.engine.batches["video_tap"] == [1, 1], "full in pass 1, then the null instruction alone"
    assert one.engine.batches["context"] == [1, 2], "what was computed for full is not computed again"


def test_a_head_that_reads_once_needs_no_second_pass():
    one = bench("context", future_mass=HIGH)
    assert one.replan().branches_run == BRANCHES
    assert one.engine.batches["action_step"] == [3] * one.manifest.head.flow_steps


def test_masking_the_future_needs_no_further_video_forward(kind):
    one = bench(kind, future_mass=HIGH)
    assert one.replan(branches=("full", "noplan")).branches_run == ("full", "noplan")
    assert one.engine.batches["video_tap"] == [1]


def test_scales_known_in_advance_put_both_video_forwards_in_one_batch(kind):
    one = bench(kind, future_mass=LOW)
    chunk = one.replan(guidance="constant")
    assert chunk.branches_run == BRANCHES and chunk.scales == GuidanceScales(1.5, 1.0)
    assert one.engine.batches["video_tap"] == [2]


def test_an_instruction_is_encoded_once_and_so_is_the_null():
    one = bench(future_mass=HIGH)
    chunks = [one.replan(sequence=n) for n in range(3)]
    assert len(one.engine.batches["text"]) == 2
    assert same_answer(chunks[0], chunks[2])


def test_only_branches_that_the_observation_allows_run_and_the_others_are_not_called_dropped(kind):
    one = bench(kind, future_mass=HIGH)
    chunk = one.replan(branches=("full", "nolang"))
    assert chunk.branches_run == ("full", "nolang") and chunk.branches_dropped == ()
    with pytest.raises(FieldError, match="branches"):
        one.replan(branches=("nolang",))


def test_inverted_guides_where_adaptive_does_not(kind):
    one = bench(kind, future_mass=HIGH)
    assert one.replan(guidance="inverted").scales == GuidanceScales(0.0, 0.0)
    one.script.future_mass = LOW
    assert one.replan(guidance="inverted").scales == GuidanceScales(1.5, 1.0)


def timed(kind: str) -> Bench:
    """Video forward 40 ms, flow step 5 ms, on a fake clock; costs known."""
    manifest = scripted_manifest(SMALL, kind)
    script = Script(influence=0.1, future_mass=HIGH, latency_ns={"video_tap": 40 * MS, "action_step": 5 * MS})
    one = Bench(manifest, script)
    one.policy.warm_up()
    return one


def test_warm_up_measures_each_number_of_branches_and_runs_every_path():
    one = timed("action_step")
    assert one.policy.info("READY").costs_ns == {"branches_1": 60 * MS, "branches_2": 120 * MS, "branches_3": 120 * MS}
    assert {1, 2, 3} <= set(one.engine.batches["action_step"])
    once = timed("context")
    assert once.policy.info("READY").costs_ns["branches_1"] == 60 * MS


@pytest.mark.parametrize(
    ("budget_ms", "run", "dropped"),
    [
        (0, BRANCHES, ()),
        (121, BRANCHES, ()),
        (119, ("full", "noplan"), ("nolang",)),
        (80, ("full", "noplan"), ("nolang",)),
        (79, ("full",), ("nolang", "noplan")),
        (1, ("full",), ("nolang", "noplan")),
    ],
)
def test_branches_that_do_not_fit_the_budget_are_dropped_dearest_first_and_reported(budget_ms, run, dropped):
    one = timed("action_step")
    before = one.clock()
    chunk = one.replan(budget_ns=budget_ms * MS)
    assert (chunk.branches_run, chunk.branches_dropped) == (run, dropped)
    assert chunk.scales == GuidanceScales(1.5, 1.0), "what TR asked for is told whatever could run"
    assert budget_ms < 60 or one.clock() - before <= (budget_ms or 1000) * MS


def test_time_spent_waiting_before_the_replan_counts_against_the_budget():
    one = timed("action_step")
    asked = ask(one.manifest, budget_ns=130 * MS)
    received = one.clock() - 20 * MS
    chunk = one.policy.replan(asked, lambda: one.clock() - received)
    assert chunk.branches_dropped == ("nolang",)


def test_a_head_that_reads_once_still_has_its_flow_ahead_when_it_decides():
    """The conditional branch's own flow steps are part of what must fit."""
    one = timed("context")
    assert one.replan(budget_ns=101 * MS).branches_run == BRANCHES
    assert one.replan(budget_ns=99 * MS).branches_dropped == ("nolang",)


def test_constant_guidance_decides_before_the_first_video_forward():
    one = timed("action_step")
    one.engine.batches["video_tap"].clear()
    assert one.replan(guidance="constant", budget_ns=90 * MS).branches_dropped == ("nolang",)
    assert one.engine.batches["video_tap"] == [1]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 140), st.sampled_from(HEADS), st.floats(0.0, 0.6), st.sampled_from(["adaptive", "constant"]))
def test_replay_with_the_branches_that_ran_is_exact(budget_ms, kind, future_mass, mode):
    """A budget decides what runs; sent back as `branches`, it makes the same answer with no budget."""
    one = timed(kind)
    one.script.future_mass = future_mass
    asked = ask(one.manifest, budget_ns=budget_ms * MS, guidance=mode)
    first = one.replan(asked)
    again = one.replan(replace(asked, budget_ns=0, branches=first.branches_run))
    assert same_answer(first, again)
    assert np.array_equal(first.temporal_ratio.masses, again.temporal_ratio.masses)


def test_stage_times_add_up_to_the_whole_and_name_the_second_pass():
    chunk = timed("action_step").replan()
    spent = dict(chunk.durations_ns)
    total, engine = spent.pop("total"), spent.pop("engine")
    assert sum(spent.values()) == total == engine == 120 * MS
    assert (spent["video"], spent["guided_video"], spent["guided_head"]) == (40 * MS, 40 * MS, 20 * MS)


STAGES = ["encode", "text", "video_step", "video_tap", "context", "action_step"]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("how", ["nan", "infinite", "raise"])
def test_what_is_not_finite_anywhere_is_an_error_naming_the_stage_and_never_an_answer(kind, stage, how):
    """B23: one NaN dropped an arm; a clamp had turned it into an end stop."""
    one = bench(kind)
    one.engine.faults.add(Fault(stage, 0, how))
    with pytest.raises(EngineError, match=stage):
        one.replan()
    assert one.replan().rows.shape == (16, SIZE), "the next good question is answered"


@pytest.mark.parametrize("call", [0, 2, 3, 4, 7])
def test_the_flow_step_at_fault_is_named_in_either_pass(call):
    """B23: the message names where."""
    one = bench(future_mass=HIGH)
    one.engine.faults.add(Fault("action_step", call, "nan"))
    with pytest.raises(EngineError, match=f"action_step, step {call % one.manifest.head.flow_steps}"):
        one.replan()


def test_rows_that_overflow_on_the_way_out_are_an_error():
    """B23: finite for the head, infinite as float32 targets."""
    one = bench()
    one.script.rows, one.script.influence = np.full((16, SIZE), 3e38, np.float32), 0.0
    action = one.manifest.action
    steep = action.statistics[0].model_copy(update={"scale": (1e6,) * SIZE})
    manifest = one.manifest.model_copy(update={"action": action.model_copy(update={"statistics": (steep,)})})
    with pytest.raises(EngineError, match="rows of denormalisation"):
        Bench(manifest, one.script).replan(joints=np.zeros(SIZE, np.float32))


def test_unknown_words_are_refused_with_the_known_ones_before_any_graph_runs():
    one = bench()
    with pytest.raises(VocabularyError, match="banana") as caught:
        one.replan(instruction="put the banana into the box")
    assert "cube" in caught.value.expected
    assert not any(one.engine.batches.values())


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"joints": np.zeros(13, np.float32)}, "joints"),
        ({"joints": np.full(SIZE, np.nan, np.float32)}, "joints"),
        ({"prefix": np.zeros((9, SIZE), np.float32)}, "prefix"),
        ({"prefix": np.full((2, SIZE), np.inf, np.float32)}, "prefix"),
        ({"images": {}}, "camera roles"),
    ],
)
def test_a_question_that_is_not_as_server_info_asks_is_refused_naming_the_field(change, named):
    one = bench()
    with pytest.raises(FieldError, match=named):
        one.replan(**change)
    assert not any(one.engine.batches.values())


def test_a_missing_optional_view_is_black_to_the_policy_and_told_once(caplog):
    """B19: 2 of 3 cameras, where the policy declares the view optional."""
    cameras = [camera.model_copy(update={"optional": camera.role == "top"}) for camera in SMALL]
    one = Bench(scripted_manifest(cameras))
    images = dict(ask(one.manifest).images)
    del images["top"]
    stamps = dict.fromkeys(images, 0)
    chunks = [one.replan(images=images, image_stamps_ns=stamps) for _ in range(3)]
    black = one.replan(images={**images, "top": np.zeros((24, 32, 3), np.uint8)})
    assert same_answer(chunks[2], black)
    assert not np.array_equal(chunks[0].rows, one.replan().rows)
    told = [record.message for record in caplog.records if "optional views" in record.message]
    assert len(told) == 2 and told[0].endswith("top")


def test_a_manifest_that_says_masses_come_from_elsewhere_is_refused_at_load():
    one = bench("action_step")
    head = one.manifest.head.model_copy(update={"masses_from": "context"})
    with pytest.raises(EngineError, match="outputs of context"):
        Policy(one.manifest.model_copy(update={"head": head}), one.engine)


def test_an_engine_without_all_graphs_is_refused_at_load():
    one = bench()
    del one.engine.script["decode"]
    with pytest.raises(EngineError, match="decode"):
        Policy(one.manifest, one.engine)
