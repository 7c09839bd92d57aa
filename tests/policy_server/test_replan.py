"""One replan: two passes, the branches that run, and what is refused."""

import numpy as np
import pytest

from contract.errors import EngineError, FieldError, VocabularyError
from contract.layout import SIZE
from contract.types import BRANCHES, GuidanceScales
from policy_server.engines.scripted_manifest import scripted_manifest
from policy_server.policy import Policy
from tests.policy_server.pipeline import HIGH, LOW, MIDDLE, SMALL, Bench, ask, bench, rows_like, same_answer


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
