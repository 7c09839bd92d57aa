"""Box, table, other arm, obstacles: nothing asked leads past them, and an arm that is past them can come back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contract.layout import ARMS, JOINT_MASK, arm_of, index, joints_of
from contract.space import Box, Obstacle
from contract.station import load_station
from robot_client.safety import guard
from robot_client.safety.clearance import poses_of
from robot_client.safety.guard import Judgement, judged, moved, passed
from robot_client.safety.kinematics import tool_jacobian
from robot_client.safety.limiter import at_rest, brake, limit
from robot_client.safety.limits import Clip, Limits, Told, limits_of, seeded
from robot_client.safety.present import Present, present
from robot_client.safety.space import FREE, space_of
from robot_client.safety.stopping import way_to_rest
from robot_client.twin.kinematics import Kinematics, pointing_down
from robot_client.twin.scene import build_model
from tests.robot_client.safety.sequences import heights

STATION = load_station("twin")
SECTION = STATION.safety.space
LIMITS = limits_of(STATION.safety, 0.01)
HOME = STATION.poses.home.vector()
SPACE_BITS = Clip.DISTANCE | Clip.WORKSPACE | Clip.TABLE
LOW = HOME + np.eye(14)[index("left_joint2")]
"""The left tool 4 cm under the table."""


def _with(**changes: object) -> Limits:
    return replace(LIMITS, space=space_of(SECTION.model_copy(update=changes)))


def _crossed(angle_rad: float) -> np.ndarray:
    """Both arms turned to the middle, stretched: they are too near to each other."""
    goal = HOME.copy()
    goal[index("left_joint1")], goal[index("right_joint1")] = -angle_rad, angle_rad
    for arm in ARMS:
        goal[index(f"{arm}_joint2")], goal[index(f"{arm}_joint3")] = 1.6, 1.3
    return goal


def _ramp(start: np.ndarray, goal: np.ndarray, limits: Limits, ticks: int = 0) -> tuple[Told, Clip, dict[str, float]]:
    """Asks the way from start to goal bit by bit; where it ended, all bits, and the least heights.

    Without `ticks` as fast as the arms can follow: what is asked too far ahead would be forbidden long before they are
    near it.
    """
    told, bits, course = seeded(start), 0, []
    ticks = ticks or max(80, int(np.ceil((np.abs(goal - start) / limits.speed).max() / limits.period_s * 1.1)))
    for tick in range(ticks + 40):
        asked = start + (goal - start) * min(tick / ticks, 1.0)
        verdict = limit(told, asked, told.position, limits)
        told, bits = verdict.told, bits | int(np.bitwise_or.reduce(verdict.clips))
        course.append(told.position)
    lowest = {name: float(height.min()) for name, height in heights(limits, np.array(course)).items()}
    return told, Clip(bits), lowest


@pytest.mark.parametrize("kind", ["ramp", "jump"])
def test_a_tool_asked_below_the_table_stops_above_it_and_the_other_arm_goes_on(kind: str) -> None:
    goal = LOW + 0.2 * np.eye(14)[index("right_joint1")]
    told, bits, lowest = _ramp(HOME, goal, LIMITS, 0 if kind == "ramp" else 1)
    assert bits & SPACE_BITS & ~Clip.WORKSPACE == Clip.TABLE
    assert lowest["table_m"] >= 0.0
    assert (lowest["table_m"] < 0.012) == (kind == "ramp"), "a jump is not approached at all"
    np.testing.assert_allclose(arm_of(told.position, "right"), arm_of(goal, "right"), atol=1e-6)
    assert at_rest(told)


def test_where_the_arm_may_be_nothing_is_changed_or_counted() -> None:
    goal = HOME + 0.2 * JOINT_MASK
    told, bits, _ = _ramp(HOME, goal, LIMITS)
    assert not bits & (SPACE_BITS | Clip.EMPTY | Clip.TOOL_SPEED)
    np.testing.assert_allclose(told.position, goal, atol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("side", [0, 1])
def test_each_side_of_the_box_stops_the_tool_and_only_counts_as_the_box(axis: int, side: int) -> None:
    tools = poses_of(LIMITS.space, HOME[None, None]).tools[0, 0]
    lower, upper = tools.min(axis=0) - 0.05, tools.max(axis=0) + 0.05
    lower[2] = -1.0 if axis != 2 else lower[2]
    limits = _with(box=Box(lower_m=tuple(lower), upper_m=tuple(upper)))
    way = {
        0: (("joint2", -0.6), ("joint2", 0.5)),
        1: (("joint1", 0.7), ("joint1", -0.7)),
        2: (("joint2", 0.5), ("joint3", 0.5)),
    }[axis][side]
    goal = HOME.copy()
    for arm in ARMS:
        goal[index(f"{arm}_{way[0]}")] += way[1]
    _, bits, lowest = _ramp(HOME, goal, limits)
    assert bits & SPACE_BITS == Clip.WORKSPACE
    assert 0.0 <= lowest["box_m"] < 0.012


def test_arms_asked_into_each_other_stop_apart_and_go_home_again() -> None:
    goal = _crossed(1.2)
    told, bits, lowest = _ramp(HOME, goal, LIMITS)
    assert bits & SPACE_BITS == Clip.DISTANCE
    assert 0.0 <= lowest["distance_m"] < 0.012
    assert at_rest(told)
    for _ in range(200):
        told = limit(told, HOME, told.position, LIMITS).told
    np.testing.assert_allclose(told.position, HOME, atol=1e-6)


def test_an_arm_asked_into_the_other_one_does_not_keep_that_one_from_leaving() -> None:
    near = _ramp(HOME, _crossed(1.2), LIMITS)[0].position
    asked = near.copy()
    arm_of(asked, "left")[:] = arm_of(HOME, "left")
    told = seeded(near)
    for _ in range(200):
        told = limit(told, asked, told.position, LIMITS).told
    np.testing.assert_allclose(arm_of(told.position, "left"), arm_of(HOME, "left"), atol=1e-6)


def test_an_obstacle_and_the_own_base_stop_an_arm() -> None:
    tool = poses_of(LIMITS.space, HOME[None, None]).tools[0, 0, 0]
    beside = tuple(float(x) for x in tool + np.array([0.0, -0.25, 0.0]))
    ball = Obstacle(name="ball", from_m=beside, to_m=beside, radius_m=0.05)
    goal = HOME - 1.4 * np.eye(14)[index("left_joint1")]
    _, bits, lowest = _ramp(HOME, goal, _with(obstacles=(ball,)))
    assert bits & SPACE_BITS == Clip.DISTANCE and 0.0 <= lowest["distance_m"] < 0.012
    assert not _ramp(HOME, goal, _with(obstacles=()))[1] & SPACE_BITS
    folded = HOME.copy()
    arm_of(folded, "right")[:] = arm_of(STATION.poses.park.vector(), "right")
    _, bits, lowest = _ramp(HOME, folded, _with(arm_to_arm_m=0.2))
    assert bits & SPACE_BITS == Clip.DISTANCE and 0.0 <= lowest["distance_m"] < 0.02


@pytest.mark.parametrize("what", ["table", "box", "distance"])
def test_an_arm_found_too_near_may_leave_but_not_go_deeper(what: str) -> None:
    """A station measured anew can find an arm inside a margin; it must not be stuck there."""
    pose = {"table": HOME, "box": HOME, "distance": _ramp(HOME, _crossed(1.2), LIMITS)[0].position}[what]
    height = {k: float(v[0]) for k, v in heights(LIMITS, pose[None]).items()}
    tools = poses_of(LIMITS.space, pose[None, None]).tools[0, 0]
    limits = {
        "table": _with(table=SECTION.table.model_copy(update={"tool_m": float(tools[0, 2]) + 0.03})),
        "box": _with(box=Box(lower_m=(-1.0, -2.0, float(tools[0, 2]) + 0.03), upper_m=(1.0, 1.0, 1.0))),
        "distance": _with(arm_to_arm_m=SECTION.arm_to_arm_m + height["distance_m"] + 0.03),
    }[what]
    bit = {"table": Clip.TABLE, "box": Clip.WORKSPACE, "distance": Clip.DISTANCE}[what]
    name = f"{what}_m"
    begun = float(heights(limits, pose[None])[name][0])
    assert begun == pytest.approx(-0.03, abs=2e-3)
    deeper, outward = pose.copy(), pose.copy()
    for arm in ARMS:
        if what == "distance":
            arm_of(deeper, arm)[:] = arm_of(_crossed(1.6), arm)
            arm_of(outward, arm)[:] = arm_of(HOME, arm)
        else:
            joints_of(deeper, arm)[1] += 0.3
            joints_of(outward, arm)[1] -= 0.3
    told = seeded(pose)
    course = []
    for _ in range(30):
        verdict = limit(told, deeper, told.position, limits)
        told = verdict.told
        course.append(told.position)
        assert (verdict.clips & bit).any()
    for _ in range(200):
        told = limit(told, outward, told.position, limits).told
        course.append(told.position)
    found = np.concatenate([[begun], heights(limits, np.array(course))[name]])
    assert (found[1:] >= np.minimum(found[:-1], 0.0) - 2e-9).all()
    np.testing.assert_allclose(told.position, outward, atol=1e-6)


def test_exactly_on_a_level_is_allowed_and_just_below_is_not() -> None:
    tools = poses_of(LIMITS.space, HOME[None, None]).tools[0, 0]
    for shift, bits in ((0.0, 0), (1e-6, int(Clip.TABLE))):
        table = SECTION.table.model_copy(update={"tool_m": float(tools[0, 2]) + shift})
        limits = _with(table=table)
        up = HOME - 0.01 * np.eye(14)[index("left_joint2")] - 0.01 * np.eye(14)[index("right_joint2")]
        verdict = limit(seeded(up), HOME, up, limits)
        assert int(verdict.clips[0]) & int(SPACE_BITS) == bits


def test_every_braking_from_a_step_that_was_let_through_keeps_the_distances() -> None:
    """The guard's promise: whenever the arms are told to hold, the way to rest was judged before."""
    limits, goal = LIMITS, _crossed(1.3)
    told, course = seeded(HOME), []
    for tick in range(100):
        asked = HOME + (goal - HOME) * min(tick / 60, 1.0)
        told = limit(told, asked, told.position, limits).told
        stopping = told
        while tick % 8 == 0 and stopping.velocity.any():
            stopping = brake(stopping, limits).told
            course.append(stopping.position)
    assert len(course) > 50
    assert min(float(height.min()) for height in heights(limits, np.array(course)).values()) >= -1e-9


def test_the_tool_keeps_its_speed_while_an_arm_is_stopped_short() -> None:
    limits, told, fastest = replace(LIMITS, tool_speed_m_s=0.25), seeded(HOME), 0.0
    for tick in range(200):
        asked = HOME + (LOW - HOME) * min(tick / 60, 1.0) if tick < 100 else _crossed(1.3)
        after = limit(told, asked, told.position, limits).told if tick % 50 else brake(told, limits).told
        tools = poses_of(limits.space, np.stack([told.position, after.position])[None]).tools[0]
        fastest = max(fastest, float(np.linalg.norm(tools[1] - tools[0], axis=-1).max()) / limits.period_s)
        told = after
    assert 0.2 < fastest <= 0.25


def test_the_tools_speed_is_judged_in_the_step_and_in_the_middle_of_both_halves_of_the_way_to_rest() -> None:
    """After a share s of the way the speed is the root of 1 - s of what it was: at a quarter and at three quarters."""
    random, seen = np.random.default_rng(4), set()
    for case in range(40):
        position = random.uniform(LIMITS.lower + 0.3, LIMITS.upper - 0.3)
        velocity = random.uniform(-0.7, 0.7, 14) * LIMITS.speed
        for arm in ARMS if case % 2 else ():  # joints that cancel each other: only the way to rest moves the tool
            null = np.linalg.svd(tool_jacobian(joints_of(position, arm))[1])[2][3:]
            joints_of(velocity, arm)[:] = (
                null[case % 3] / np.abs(null[case % 3]).max() * (1.4 if case % 4 == 1 else 0.3)
            )
        after = position + velocity * LIMITS.period_s
        told, step = seeded(position[None]), Told(after[None], velocity[None], after[None])
        way, _, seconds = way_to_rest(step, LIMITS)
        places = np.stack([position[None], after[None], after + way / 2, after + way], axis=1)
        tools = poses_of(LIMITS.space, places).tools[0]
        ways = np.linalg.norm(np.diff(tools, axis=0), axis=-1)
        for side, arm in enumerate(ARMS):
            taken = 0.985 * joints_of(seconds[0], arm).max()
            speeds = (ways[0, side] / 0.01, 2 * ways[1, side] * 0.75**0.5 / taken, 2 * ways[2, side] * 0.5 / taken)
            seen.add(int(np.argmax(speeds)))
            for share, fast in ((1.0001, False), (0.9999, True)):
                limits = replace(LIMITS, space=FREE, tool_speed_m_s=share * max(speeds))
                verdict = judged(told, step, told.position, limits, present(FREE, told.position))
                assert bool(verdict.step[0, side]) == fast
                assert bool(verdict.clips[0, side] & Clip.TOOL_SPEED) == fast
    assert seen == {0, 1, 2}


def test_a_period_later_an_arm_is_where_its_speed_led_and_knows_its_acceleration() -> None:
    told = Told(HOME, np.full(14, 0.2), HOME)
    after = moved(told, np.where(JOINT_MASK, 0.5, 0.0), LIMITS)
    np.testing.assert_allclose(after.position, HOME + np.where(JOINT_MASK, 0.005, 0.0))
    np.testing.assert_allclose(after.acceleration, np.where(JOINT_MASK, 30.0, -20.0))
    edge = moved(Told(LIMITS.upper, np.zeros(14), LIMITS.upper), np.full(14, 1.0), LIMITS)
    np.testing.assert_array_equal(edge.position, LIMITS.upper)
    edge = moved(Told(LIMITS.lower, np.zeros(14), LIMITS.lower), np.full(14, -1.0), LIMITS)
    np.testing.assert_array_equal(edge.position, LIMITS.lower)


def test_a_step_that_may_not_be_taken_is_taken_by_half_or_by_one_arm_or_not_at_all() -> None:
    """Most motion first: both arms, half of one of them, one alone, half of both, half of one alone."""
    asked_for = []

    def look(told: Told, step: Told, asked: np.ndarray, limits: Limits, here: Present) -> Judgement:
        asked_for.append(step.velocity)
        return Judgement(~fine, ~fine, np.zeros((len(step.velocity), 2), np.int64))

    wanted, stop, told = np.full((1, 14), 1.0), np.full((1, 14), 0.2), seeded(HOME[None])
    shares = [(1.0, 1.0), (1.0, 0.5), (0.5, 1.0), (1.0, 0.0), (0.5, 0.5), (0.0, 1.0), (0.5, 0.0), (0.0, 0.5)]
    original = guard.judged
    guard.judged = look  # type: ignore[assignment]
    try:
        for first in range(9):
            fine = np.zeros((8, 2), bool)
            fine[first:] = True
            found = passed(told, wanted, stop, LIMITS, present(LIMITS.space, told.position))
            left, right = shares[first] if first < 8 else (0.0, 0.0)
            np.testing.assert_allclose(arm_of(found, "left"), 0.2 + 0.8 * left)
            np.testing.assert_allclose(arm_of(found, "right"), 0.2 + 0.8 * right)
    finally:
        guard.judged = original
    assert len(asked_for[0]) == 8


def test_many_pairs_of_arms_at_once_are_judged_each_for_itself() -> None:
    asked = np.stack([HOME, LOW, _crossed(1.2), HOME + 0.1 * JOINT_MASK]).reshape(2, 2, 14)
    told = seeded(np.broadcast_to(HOME, (2, 2, 14)))
    singles = [seeded(HOME) for _ in range(4)]
    for _ in range(40):
        verdict = limit(told, asked, told.position, LIMITS)
        told = verdict.told
        alone = [limit(s, a, s.position, LIMITS) for s, a in zip(singles, asked.reshape(4, 14), strict=True)]
        singles = [v.told for v in alone]
        np.testing.assert_allclose(told.position.reshape(4, 14), [s.position for s in singles], atol=1e-12)
        np.testing.assert_array_equal(verdict.clips.reshape(4, 14), [v.clips for v in alone])


def test_the_lowest_grasp_of_the_twins_expert_meets_no_limit_of_space() -> None:
    """14 mm above the table, straight down; lower than that nothing in the twin is picked up."""
    kinematics, low = Kinematics(build_model()), HOME.copy()
    joints_of(low, "left")[:] = kinematics.joints_for("left", np.array([0.32, -0.1, 0.014]), pointing_down(0.3))
    told, bits, lowest = _ramp(HOME, low, LIMITS, 300)
    assert not bits & SPACE_BITS
    np.testing.assert_allclose(told.position, low, atol=1e-6)
    assert 0.0 < lowest["table_m"] < 0.015
