"""A small part of `make safety-sequences`, and that its checks can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contract.layout import JOINT_MASK
from robot_client.safety.limits import Told, Verdict
from tests.robot_client.safety.channel_sequences import run as run_channels
from tests.robot_client.safety.sequences import Excess, check, run, variants


@pytest.mark.parametrize("name", ["twin", "yam_example_jerk"])
def test_no_random_sequence_breaks_a_limit(name: str) -> None:
    seen = run(variants()[name], 120, seed=5, rows=60)
    assert not seen.violations
    assert seen.steps == 2400 and seen.travel_rad > 20.0
    assert all(seen.clipped[reason] for reason in ("SPEED", "ACCELERATION", "TOOL_SPEED", "DISTANCE", "TABLE"))


def test_each_check_of_the_sequences_sees_its_limit_exceeded() -> None:
    limits = variants()["yam_example_jerk"]
    inside = np.clip(np.zeros((1, 14)), limits.lower + 0.5, limits.upper - 0.5)
    before = Told(inside, np.zeros((1, 14)), inside)
    after = Told(limits.upper[None] + 0.5 * JOINT_MASK, np.full((1, 14), 50.0), inside)
    seen = Excess()
    check(before, Verdict(after, np.zeros((1, 14), np.uint16)), inside, limits, seen)
    outside = replace(after, position=np.where(JOINT_MASK, 1.9, 0.0)[None])
    check(before, Verdict(outside, np.zeros((1, 14), np.uint16)), inside, limits, seen)
    assert {"speed_rad_s", "told_speed_rad_s", "acceleration_rad_s2", "position_rad"} <= set(seen.violations)
    assert {"lead_rad", "jerk_share", "tool_speed_m_s", "table_m"} <= set(seen.violations)


@pytest.mark.parametrize("name", ["twin", "yam_example_jerk"])
def test_no_random_motion_of_single_channels_breaks_a_limit_and_the_lead_is_reached(name: str) -> None:
    seen = run_channels(variants()[name], 1500, seed=3, rows=300)
    assert not seen.violations
    assert seen.steps == 30_000 and seen.clipped["LEAD reached"] > 20
    assert {"speed_rad_s", "acceleration_rad_s2", "position_rad", "braking_distance_rad", "lead_rad"} <= set(seen.worst)
