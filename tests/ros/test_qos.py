"""QoS that fits delivers; QoS, types and writers that do not fit are named within two seconds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy as Durability
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy as Reliability
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import Image, JointState
from spinning import spinning
from std_msgs.msg import String
from yam_vam.qos_watch import LOOK_S, QosWatch
from yam_vam.topics import table

from tests.waiting import STANDSTILL_S

pytestmark = pytest.mark.usefixtures("ros")

REPORT_S = 2.0
PAIRS = list(
    itertools.product(
        itertools.product(
            (Reliability.BEST_EFFORT, Reliability.RELIABLE), (Durability.VOLATILE, Durability.TRANSIENT_LOCAL)
        ),
        repeat=2,
    )
)


def profiles(number: int) -> tuple[QoSProfile, QoSProfile]:
    """Offer and request of one pair; the depth, which must not matter, is 1 or 10 by turns."""
    offer, request = PAIRS[number % len(PAIRS)]
    return (
        QoSProfile(depth=10 if number % 2 else 1, reliability=offer[0], durability=offer[1]),
        QoSProfile(depth=10 if number % 3 else 1, reliability=request[0], durability=request[1]),
    )


def fits(offer: QoSProfile, request: QoSProfile) -> bool:
    """The rule of DDS: what is offered must be at least what is asked for."""
    reliable = offer.reliability is Reliability.RELIABLE or request.reliability is Reliability.BEST_EFFORT
    latched = offer.durability is Durability.TRANSIENT_LOCAL or request.durability is Durability.VOLATILE
    return reliable and latched


def test_every_sensible_pair_delivers_and_every_impossible_one_is_named() -> None:
    """B35: publisher and subscriber did not fit, nothing arrived, and nothing was said."""
    kinds = [kind for kind in (Image, JointState, String) for _ in PAIRS]
    talker, listener = Node("talker"), Node("listener")
    said: list[str] = []
    watch = QosWatch(listener, said.append)
    came: set[int] = set()
    publishers = []
    for i, kind in enumerate(kinds):
        publishers.append((talker.create_publisher(kind, f"pair_{i}", profiles(i)[0]), kind()))
        watch.subscribe(f"pair_{i}", kind, profiles(i)[1], lambda message, i=i: came.add(i))
    good = {i for i in range(len(kinds)) if fits(*profiles(i))}
    bad = set(range(len(kinds))) - good

    def talk() -> None:
        for i, (publisher, message) in enumerate(publishers):
            if i not in came:
                publisher.publish(message)

    talker.create_timer(0.2, talk)
    with spinning(talker, listener) as spin:
        spin.until(lambda: came >= good and len(watch.troubles) >= len(bad), 60.0, f"missing {sorted(good - came)}")
        assert came == good
        assert {int(topic.rsplit("_", 1)[1]) for topic in watch.troubles} == bad
        for topic, line in watch.troubles.items():
            offer, request = profiles(int(topic.rsplit("_", 1)[1]))
            assert "/talker offers" in line
            for name in ("reliability", "durability"):
                mine, theirs = getattr(request, name).name, getattr(offer, name).name
                assert (f"{name} {mine}" in line) == (f"{name} {theirs}" in line), line
        assert len(said) == len(bad)


def _reported(watch: QosWatch, spin: Any, what: str) -> str:
    """The line, which must be there two seconds after the middleware has met the peer."""
    spin.until(lambda: _peers(watch), what="a peer in the graph")
    took = spin.until(lambda: bool(watch.troubles), what=what)
    assert 2 * LOOK_S <= REPORT_S and took < REPORT_S + STANDSTILL_S, f"{what} was reported after {took:.1f} s"
    return next(iter(watch.troubles.values()))


def _peers(watch: QosWatch) -> bool:
    node, ours = watch._node, watch._ours[0]
    look = node.get_publishers_info_by_topic if ours.reads else node.get_subscriptions_info_by_topic
    return bool(look(ours.topic))


@contextmanager
def another_process(topic: str) -> Iterator[None]:
    """A publisher of std_msgs/String, as another participant: within one, DDS refuses two types on a topic."""
    context = Context()
    rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO)
    node = Node("driver", context=context)
    node.create_publisher(String, topic, 1)
    try:
        yield
    finally:
        node.destroy_node()
        context.try_shutdown()


def test_a_best_effort_driver_on_our_command_topic_is_named_within_two_seconds() -> None:
    """B35: here from the publisher's side: who asks for what, and what we offer."""
    ours, theirs = Node("ours"), Node("driver")
    watch = QosWatch(ours, lambda line: None)
    watch.advertise("joint_commands_a", JointState, QoSProfile(depth=1, reliability=Reliability.BEST_EFFORT))
    theirs.create_subscription(JointState, "joint_commands_a", lambda m: None, 10)
    with spinning(ours, theirs) as spin:
        line = _reported(watch, spin, "a reader that asks for more")
    assert "/driver asks for reliability RELIABLE, we offer reliability BEST_EFFORT" in line


def test_another_type_on_our_topic_is_named() -> None:
    """B35: the middleware connects nothing and says nothing."""
    ours = Node("ours")
    watch = QosWatch(ours, lambda line: None)
    watch.subscribe("joint_states_b", JointState, QoSProfile(depth=1), lambda m: None)
    with another_process("joint_states_b"), spinning(ours) as spin:
        line = _reported(watch, spin, "a wrong type")
    assert "std_msgs/msg/String" in line
    assert "sensor_msgs/msg/JointState" in line


def test_two_writers_of_one_joint_topic_are_named() -> None:
    """B35: each would believe that it drives the arms."""
    ours, one, two = Node("ours"), Node("driver_one"), Node("driver_two")
    watch = QosWatch(ours, lambda line: None)
    watch.subscribe("joint_states_c", JointState, QoSProfile(depth=1), lambda m: None, alone=True)
    for node in (one, two):
        node.create_publisher(JointState, "joint_states_c", 1)
    with spinning(ours, one, two) as spin:
        line = _reported(watch, spin, "two writers")
    assert "/driver_one, /driver_two" in line


def test_trouble_that_is_over_is_no_longer_reported() -> None:
    ours, theirs = Node("ours"), Node("driver")
    watch = QosWatch(ours, lambda line: None)
    watch.subscribe("joint_states_d", JointState, QoSProfile(depth=1), lambda m: None)
    wrong = theirs.create_publisher(
        JointState, "joint_states_d", QoSProfile(depth=1, reliability=Reliability.BEST_EFFORT)
    )
    with spinning(ours, theirs) as spin:
        _reported(watch, spin, "a publisher that offers less")
        theirs.destroy_publisher(wrong)
        spin.until(lambda: not watch.troubles, 60.0, "the end of the trouble")


def test_sensor_data_is_best_effort_state_reliable_and_descriptions_latched() -> None:
    topics = table()
    assert topics["/joint_states"].qos.reliability is Reliability.BEST_EFFORT
    assert topics["/{role}/image_raw"].qos.reliability is Reliability.BEST_EFFORT
    assert topics["/joint_commands"].qos.reliability is Reliability.RELIABLE
    for name in ("/mode", "/policy/instruction"):
        assert topics[name].qos.durability is Durability.TRANSIENT_LOCAL
    assert not any(topic.name.startswith("/") for topic in topics.values())
