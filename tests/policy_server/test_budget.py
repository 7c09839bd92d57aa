"""Branches within a budget, on a fake clock; replay of what ran; stage times."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.types import BRANCHES, GuidanceScales
from policy_server.engines.scripted_manifest import scripted_manifest
from policy_server.engines.scripted_policy import Script
from tests.policy_server.pipeline import HEADS, HIGH, SMALL, Bench, ask, same_answer

MS = 1_000_000


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
