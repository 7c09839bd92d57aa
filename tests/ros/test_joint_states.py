"""Joints by name, whatever their order, and the clock they are stamped with."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sensor_msgs.msg import JointState
from yam_vam.joint_gather import JointGather
from yam_vam.joint_states import message_of, part_of, vector_of
from yam_vam.stamps import Stamps

from contract.errors import FieldError
from contract.layout import SIZE, URDF_NAMES
from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.episodes.ros_messages import to_urdf
from robot_client.episodes.ros_time import RosTime

TIME = RosTime(1_700_000_000 * NS_PER_S)
NOW = 50 * NS_PER_S
VALUES = np.linspace(0.05, 0.95, SIZE)
EXTRA = ["left_joint8", "right_joint8"]


def shuffled(values: np.ndarray, order: list[int], extra: list[str] | None = None, at_ns: int = NOW) -> JointState:
    """A message with the joints in `order`, and others between them."""
    made = message_of(values, TIME.of(at_ns))
    names = [*made.name, *(extra or [])]
    positions = [*made.position, *(7.0 for _ in extra or [])]
    order = [*order, *range(len(made.name), len(names))]
    made.name, made.position = [names[i] for i in order], [positions[i] for i in order]
    return made


@given(st.permutations(range(SIZE)), st.booleans())
def test_a_new_order_in_every_message_changes_nothing(order: list[int], with_extra: bool) -> None:
    """B21: values were taken by place; a driver that sorts by name swapped elbow and shoulder."""
    message = shuffled(VALUES, order, EXTRA if with_extra else None)
    assert np.allclose(vector_of([part_of(message)]), VALUES)


@given(st.permutations(range(SIZE // 2)), st.permutations(range(SIZE // 2, SIZE)), st.booleans())
def test_two_topics_give_what_one_gives(left: list[int], right: list[int], right_first: bool) -> None:
    """B21: one topic for each arm, in any order."""
    gather = JointGather(["left/joint_states", "right/joint_states"], Stamps(TIME))
    parts = [("left/joint_states", left), ("right/joint_states", right)]
    reading = None
    for topic, order in reversed(parts) if right_first else parts:
        message = message_of(VALUES, TIME.of(NOW))
        message.name, message.position = [message.name[i] for i in order], [message.position[i] for i in order]
        reading = gather.take(topic, message, NOW)
    assert reading is not None
    assert np.allclose(reading.positions, VALUES)
    assert reading.stamp_ns == NOW


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda m: (m.name.pop(), m.position.pop()), "right_gripper"),
        (lambda m: m.name.__setitem__(3, "left_joint3"), "left_joint3"),
        (lambda m: m.name.__setitem__(3, "elbow"), "elbow"),
        (lambda m: m.position.__setitem__(2, float("nan")), "left_joint3"),
        (lambda m: m.position.pop(), "14 names, 13 positions"),
    ],
)
def test_a_missing_double_unknown_or_broken_joint_is_refused_and_named(change: object, names: str) -> None:
    """B21: refused as a whole; half a pose is no pose."""
    message = message_of(VALUES, TIME.of(NOW))
    message.name, message.position = list(message.name), list(message.position)
    change(message)  # type: ignore[operator]
    with pytest.raises(FieldError, match=names):
        vector_of([part_of(message)])


def test_a_command_carries_names_so_that_a_driver_that_sorts_gets_the_right_values() -> None:
    """B21: outgoing commands, too, are matched by name."""
    sent = message_of(VALUES, TIME.of(NOW))
    by_name = dict(sorted(zip(sent.name, sent.position, strict=True)))
    assert [by_name[name] for name in URDF_NAMES] == pytest.approx(to_urdf(VALUES).tolist())


def test_arms_that_are_read_far_apart_are_no_reading() -> None:
    gather = JointGather(["l", "r"], Stamps(TIME))
    halves = [message_of(VALUES, TIME.of(NOW)), message_of(VALUES, TIME.of(NOW + 150 * NS_PER_MS))]
    for half, part in zip(halves, (slice(0, 7), slice(7, 14)), strict=True):
        half.name, half.position = half.name[part], half.position[part]
    assert gather.take("l", halves[0], NOW) is None
    with pytest.raises(FieldError, match="150 ms"):
        gather.take("r", halves[1], NOW + 150 * NS_PER_MS)


def test_speed_comes_from_the_message_or_from_two_of_them() -> None:
    gather = JointGather(["j"], Stamps(TIME))
    gather.take("j", message_of(VALUES, TIME.of(NOW)), NOW)
    later = NOW + 10 * NS_PER_MS
    reading = gather.take("j", message_of(VALUES + 0.01, TIME.of(later)), later)
    assert reading is not None
    assert reading.velocities == pytest.approx(np.full(SIZE, 1.0))
    told = message_of(VALUES, TIME.of(later + 1))
    told.velocity = to_urdf(np.full(SIZE, 0.5)).tolist()
    reading = gather.take("j", told, later + 1)
    assert reading is not None
    assert reading.velocities == pytest.approx(np.full(SIZE, 0.5))


@pytest.mark.parametrize("wrong_ns", [-3600 * NS_PER_S, 3600 * NS_PER_S, -NS_PER_S * 2, 50 * NS_PER_MS])
def test_a_stamp_of_another_clock_is_replaced_by_the_arrival_and_counted(wrong_ns: int) -> None:
    stamps = Stamps(TIME, latency_ns=20 * NS_PER_MS)
    assert stamps.monotonic(TIME.of(NOW) + wrong_ns, NOW) == NOW - 20 * NS_PER_MS
    assert stamps.flagged == 1


def test_a_clock_that_jumps_back_never_makes_older_stamps() -> None:
    stamps = Stamps(TIME)
    first = stamps.monotonic(TIME.of(NOW), NOW)
    back = stamps.monotonic(TIME.of(NOW - 500 * NS_PER_MS), NOW + 10 * NS_PER_MS)
    assert first == NOW
    assert back == NOW + 10 * NS_PER_MS
    assert stamps.flagged == 1
