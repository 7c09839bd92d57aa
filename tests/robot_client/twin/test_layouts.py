"""Seeded layouts."""

from __future__ import annotations

import itertools
import math

import pytest

from contract.errors import ConfigurationError
from robot_client.twin.layouts import Layout, make_layout, nearer_arm, reachable
from robot_client.twin.tasks import OBJECTS, RECEPTACLES, TASKS
from robot_client.twin.things import PLACES, TABLE_CENTRE_M, TABLE_HALF_M, THINGS

LAYOUTS = [make_layout(seed) for seed in range(200)]


def test_two_hundred_layouts_are_reachable_and_nothing_overlaps() -> None:
    for layout in LAYOUTS:
        _check(layout)


def _check(layout: Layout) -> None:
    thing, place = layout.things[layout.task.object], layout.places[layout.task.receptacle]
    assert reachable(thing, layout.arm)
    assert reachable(place, layout.arm)
    assert nearer_arm(thing) == layout.arm
    spots = [(THINGS[n].radius_m, s) for n, s in layout.things.items()]
    spots += [(PLACES[n].radius_m, s) for n, s in layout.places.items()]
    for (a, p), (b, q) in itertools.combinations(spots, 2):
        assert math.hypot(p.x_m - q.x_m, p.y_m - q.y_m) > a + b, layout.seed
    for radius, spot in spots:
        assert abs(spot.x_m - TABLE_CENTRE_M[0]) + radius < TABLE_HALF_M[0]
        assert abs(spot.y_m - TABLE_CENTRE_M[1]) + radius < TABLE_HALF_M[1]


def test_distractors_are_always_present_and_every_task_and_arm_occurs() -> None:
    assert all(set(layout.things) == set(OBJECTS) and set(layout.places) == set(RECEPTACLES) for layout in LAYOUTS)
    assert {layout.task for layout in LAYOUTS} == set(TASKS)
    assert {layout.arm for layout in LAYOUTS} == {"left", "right"}


def test_a_layout_is_a_pure_function_of_seed_and_task() -> None:
    assert make_layout(11) == make_layout(11)
    assert make_layout(11) == make_layout(11, make_layout(11).task)
    assert make_layout(11).things != make_layout(12).things
    assert make_layout(11, TASKS[0]).things != make_layout(11, TASKS[1]).things


@pytest.mark.parametrize("seed", [-1, True])
def test_seeds_that_are_no_whole_number_from_zero_are_refused(seed: int) -> None:
    with pytest.raises(ConfigurationError, match="seed"):
        make_layout(seed)
