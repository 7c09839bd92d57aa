"""Success and phases, from physics: both ways."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_client.twin.judge import SETTLED_S, Facts, Phase, phase_of
from robot_client.twin.tasks import TASKS, Task
from robot_client.twin.things import PLACES, THINGS
from robot_client.twin.twin import Twin
from robot_client.twin.world import park_pose


def _drop(twin: Twin, thing: str, at: np.ndarray, height_m: float) -> None:
    """Put a thing above a point, at rest, as if a hand had let go of it there."""
    joint = twin.world.data.joint(thing)
    joint.qpos[:] = [at[0], at[1], at[2] + height_m, 1, 0, 0, 0]
    joint.qvel[:] = 0
    mujoco.mj_forward(twin.world.model, twin.world.data)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.instruction)
def test_a_thing_dropped_into_its_receptacle_is_success_once_it_lies_still(twin: Twin, task: Task) -> None:
    twin.reset(4, task)
    place = twin.world.body_position(task.receptacle)
    _drop(twin, task.object, place, PLACES[task.receptacle].floor_m + THINGS[task.object].rest_height_m + 0.02)
    assert not twin.advance(park_pose(), SETTLED_S / 2).success
    verdict = twin.advance(park_pose(), 2.0)
    assert verdict.success
    assert verdict.phase is Phase.RETREAT
    assert twin.misplaced() is None


def test_the_wrong_receptacle_the_wrong_thing_and_a_near_miss_are_no_success(twin: Twin) -> None:
    task = Task("red cube", "bin")
    twin.reset(4, task)
    _drop(twin, "red cube", twin.world.body_position("box"), 0.05)
    assert not twin.advance(park_pose(), 1.5).success
    assert twin.misplaced() == "red cube is with the box"
    twin.reset(4, task)
    _drop(twin, "blue ball", twin.world.body_position("bin"), 0.05)
    assert not twin.advance(park_pose(), 1.5).success
    twin.reset(4, task)
    beside = twin.world.body_position("bin") + np.array([PLACES["bin"].radius_m + 0.03, 0.0, 0.0])
    _drop(twin, "red cube", beside, 0.03)
    assert not twin.advance(park_pose(), 1.5).success


def test_a_thing_held_above_its_receptacle_is_being_placed_not_placed(twin: Twin) -> None:
    task = Task("green cylinder", "bowl")
    twin.reset(4, task)
    for _ in range(20):
        _drop(twin, task.object, twin.world.body_position("bowl"), 0.12)
        verdict = twin.advance(park_pose(), 0.02)
        assert not verdict.success
        assert verdict.phase is Phase.PLACE


def test_a_layout_starts_in_approach_without_success(twin: Twin) -> None:
    for seed in range(10):
        twin.reset(seed)
        assert twin.verdict.phase is Phase.APPROACH
        assert not twin.verdict.success


_FACTS = st.builds(Facts, *[st.booleans()] * 7)


@given(facts=_FACTS)
def test_the_phase_is_total_and_contact_phases_need_contact_or_nearness(facts: Facts) -> None:
    phase = phase_of(facts)
    if phase is Phase.GRASP:
        assert (facts.near or facts.touched) and not facts.lifted and not facts.over
    if phase is Phase.RETREAT:
        assert facts.inside and not facts.touched
    if phase is Phase.TRANSPORT:
        assert facts.lifted and not facts.over
