"""What the limiter makes of the guard's word, and of the tool's speed: who is stopped, and what is counted for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from contract.layout import JOINT_MASK, arm_of, index, joints_of
from contract.space import Obstacle
from contract.station import load_station
from robot_client.safety.clearance import poses_of
from robot_client.safety.limiter import limit
from robot_client.safety.limits import UNLIMITED_JERK, Clip, Told, limits_of, seeded
from robot_client.safety.space import space_of
from tests.robot_client.safety.sequences import heights

STATION = load_station("twin")
LIMITS = limits_of(STATION.safety, 0.01)
JERK = 200.0
EASED = replace(LIMITS, jerk=np.where(JOINT_MASK, JERK, UNLIMITED_JERK))
HOME = STATION.poses.home.vector()
EMPTY, TABLE = int(Clip.EMPTY), int(Clip.TABLE)


def test_an_arm_is_stopped_short_of_what_is_on_its_way_also_while_every_other_channel_moves() -> None:
    tool = poses_of(LIMITS.space, HOME[None, None]).tools[0, 0, 0]
    beside = tuple(float(x) for x in tool - np.array([0.0, 0.15, 0.0]))
    ball = Obstacle(name="ball", from_m=beside, to_m=beside, radius_m=0.02)
    limits = replace(LIMITS, space=space_of(STATION.safety.space.model_copy(update={"obstacles": (ball,)})))
    turn = np.eye(14)[index("left_joint1")]
    told, course = seeded(HOME), []
    for tick in range(60):
        sway = np.where(JOINT_MASK, 0.05, -0.2) * np.sin(tick / 9.0) * (1.0 - turn)
        told = limit(told, HOME - 2.2 * turn + sway, told.position, limits).told
        course.append(told.position)
    assert min(heights(limits, np.array(course))["distance_m"]) >= 0.0
    assert heights(limits, (HOME - 2.2 * turn)[None])["distance_m"][0] > 0.1, "what is asked is behind it"
    assert np.ptp(course, axis=0).min() > 0.005


def test_a_joint_that_the_guard_stops_harder_than_its_jerk_allows_counts_that_and_no_other_channel_does() -> None:
    moving = np.eye(14)[index("left_joint2")]
    told = Told(HOME, 0.5 * moving, HOME)
    for limits, bits in ((LIMITS, 0), (EASED, EMPTY)):
        verdict = limit(told, HOME + moving, HOME, limits)
        step = LIMITS.acceleration * LIMITS.period_s
        np.testing.assert_allclose(verdict.told.velocity, (0.5 - step) * moving, atol=1e-12)
        assert int(verdict.clips[index("left_joint2")]) & (EMPTY | TABLE) == bits | TABLE
        others = verdict.clips[moving == 0.0]
        np.testing.assert_array_equal(others, [TABLE] * 6 + [0] * 7)


def test_arms_slowed_to_their_tools_speed_exceed_the_jerk_exactly_where_that_is_counted() -> None:
    random, broken, slowed = np.random.default_rng(0), 0, 0
    limits = replace(EASED, tool_speed_m_s=0.25)
    told = replace(seeded(np.broadcast_to(HOME, (8, 14))), acceleration=np.zeros((8, 14)))
    for tick in range(40):
        if tick % 20 == 0:
            goal = random.uniform(LIMITS.lower, LIMITS.upper, (8, 14))
        verdict = limit(told, goal, told.position, limits)
        jerk = np.abs(verdict.told.acceleration - told.acceleration) / limits.period_s
        over, counted = jerk > limits.jerk * (1 + 1e-6), (verdict.clips & EMPTY) > 0
        np.testing.assert_array_equal(over & JOINT_MASK, counted)
        broken, slowed = broken + int(over.sum()), slowed + int((verdict.clips & Clip.TOOL_SPEED).any(axis=1).sum())
        told = verdict.told
    assert broken > 30 and slowed > 100


def test_while_one_arm_is_slowed_to_its_tools_speed_the_other_counts_nothing() -> None:
    goal, told, slowed = HOME.copy(), seeded(HOME), 0
    joints_of(goal, "left")[0] += 0.3
    for _ in range(100):
        verdict = limit(told, goal, told.position, replace(LIMITS, tool_speed_m_s=0.25))
        assert not arm_of(verdict.clips, "right").any()
        bits = {bool(bit) for bit in arm_of(verdict.clips, "left") & Clip.TOOL_SPEED}
        assert len(bits) == 1, "the arm is slowed as a whole"
        assert not (verdict.clips & Clip.LIMIT).any()
        told, slowed = verdict.told, slowed + bits.pop()
    assert slowed > 20
