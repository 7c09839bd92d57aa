"""The twin as topics: everything else cannot tell it from arms. And a leader by topic."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from spinning import spinning
from std_msgs.msg import Bool
from yam_vam.joint_states import message_of, part_of, vector_of
from yam_vam.leader import LeaderNode
from yam_vam.topics import role_topic, table
from yam_vam.twin import TwinNode
from yam_vam.twin_joints import JointBeat

from contract.errors import RigError
from contract.layout import SIZE, URDF_NAMES
from contract.station import load_station
from robot_client.clock import MonotonicClock
from robot_client.rigs.base import JointReading
from robot_client.teleop.mail import MailedLeader

pytestmark = pytest.mark.usefixtures("ros")


def test_the_twin_moves_by_joint_commands_and_shows_it(tmp_path: Path) -> None:
    pytest.importorskip("mujoco", reason="the twin needs mujoco: pip install 'yam-video-action[sim]'")
    twin = TwinNode(lambda: 0)
    twin.set_parameters([Parameter("run_dir", value=str(tmp_path / "twin"))])
    other = Node("other")
    states, commands, image = (
        table()["/joint_states"],
        table()["/joint_commands"],
        role_topic("/{role}/image_raw", "top"),
    )
    seen: list[np.ndarray] = []
    pictures: list[Any] = []
    other.create_subscription(states.kind, states.name, lambda m: seen.append(vector_of([part_of(m)])), states.qos)
    other.create_subscription(image.kind, image.name, pictures.append, image.qos)
    talk = other.create_publisher(commands.kind, commands.name, commands.qos)
    with spinning(twin, other) as spin:
        assert twin.trigger_configure().name == "SUCCESS"
        assert twin.trigger_activate().name == "SUCCESS"
        spin.until(lambda: len(seen) > 2 and bool(pictures), 60.0, "joints and a picture")
        start = seen[-1]
        goal = start + np.where(np.arange(SIZE) == 1, 0.15, 0.0)
        steps = iter(np.linspace(0.0, 1.0, 400))

        def moved() -> bool:
            message = message_of(start + next(steps, 1.0) * (goal - start), other.get_clock().now().nanoseconds)
            order = np.random.default_rng(0).permutation(SIZE)
            message.name, message.position = [message.name[i] for i in order], [message.position[i] for i in order]
            talk.publish(message)
            return bool(np.abs(seen[-1] - goal).max() < 0.04)

        spin.until(moved, 60.0, "the goal")

        spin.executor.remove_node(twin)  # it stands for an executor that is busy with images
        before = len(seen)
        spin.until(lambda: len(seen) > before + 20, 60.0, "joints while the node's executor does nothing")
        spin.executor.add_node(twin)
        half = message_of(goal, 0)
        half.name, half.position = half.name[:7], half.position[:7]

        def refused() -> bool:
            talk.publish(half)
            return twin.refused > 0

        spin.until(refused, what="a refusal of half a command")
        assert twin.trigger_deactivate().name == "SUCCESS"
        assert twin.trigger_cleanup().name == "SUCCESS"


def test_each_measurement_is_published_once_and_none_after_the_stop() -> None:
    """Joints were published by a timer of the executor: behind images they came to be 200 ms old, and the loop held."""
    reading = JointReading(np.zeros(SIZE), np.zeros(SIZE), 1)
    came: list[int] = []
    arrived = threading.Event()

    def read() -> JointReading:
        return reading

    def publish(told: JointReading) -> None:
        came.append(told.stamp_ns)
        arrived.set()

    beat = JointBeat(read, publish, 500.0)
    beat.start()
    beat.going = True
    for stamp_ns in (1, 2, 3):
        reading = JointReading(np.zeros(SIZE), np.zeros(SIZE), stamp_ns)
        assert arrived.wait(60.0)
        arrived.clear()
    beat.stop()
    assert not beat.alive()
    assert came == [1, 2, 3]


def test_before_the_first_measurement_nothing_is_published_and_the_thread_lives() -> None:
    asked = threading.Event()

    def read() -> JointReading:
        asked.set()
        raise RigError("joints", expected="a measurement", got="none yet")

    beat = JointBeat(read, lambda reading: None, 500.0)
    beat.start()
    beat.going = True
    assert asked.wait(60.0)
    assert beat.alive()
    beat.stop()


def test_a_leader_by_topic_reaches_the_loop_and_ages_when_deactivated(tmp_path: Path) -> None:
    """B14: the last word of a button counted for ever, so a dead-man whose publisher died stayed pressed."""
    leader = LeaderNode(lambda: 0)
    leader.set_parameters([Parameter("leader_dir", value=str(tmp_path))])
    hand = Node("hand")
    states = table()["/joint_states"]
    talk = hand.create_publisher(states.kind, "leader/joint_states", states.qos)
    button = hand.create_publisher(Bool, "leader/dead_man", 10)
    loop = MailedLeader(tmp_path, "leader", "follower", MonotonicClock())
    home = load_station("twin").poses.home.vector()
    with spinning(leader, hand) as spin:
        assert leader.trigger_configure().name == "SUCCESS"
        assert leader.trigger_activate().name == "SUCCESS"

        def arrived() -> bool:
            message = message_of(home, hand.get_clock().now().nanoseconds)
            message.name, message.position = message.name[::-1], message.position[::-1]
            talk.publish(message)
            button.publish(Bool(data=True))
            sample = loop.newest()
            return sample is not None and sample.dead_man and bool(np.isfinite(sample.values).all())

        spin.until(arrived, what="a sample with the button pressed")
        assert loop.newest().values == pytest.approx(home, abs=1e-6)  # type: ignore[union-attr]

        def let_go() -> bool:
            talk.publish(message_of(home, hand.get_clock().now().nanoseconds))
            sample = loop.newest()
            return sample is not None and not sample.dead_man

        spin.until(let_go, what="a button of which nothing is heard to count as let go, while joints go on")
        unknown = message_of(home, 0)
        unknown.name = ["elbow", *list(URDF_NAMES)[1:]]

        def refused() -> bool:
            talk.publish(unknown)
            return leader.refused > 0

        spin.until(refused, what="a refusal of an unknown joint")
        assert leader.trigger_deactivate().name == "SUCCESS"
        stamp_ns = loop.newest().stamp_ns  # type: ignore[union-attr]
        for _ in range(20):
            talk.publish(message_of(home, hand.get_clock().now().nanoseconds))
            spin.executor.spin_once(timeout_sec=0.01)
        assert loop.newest().stamp_ns == stamp_ns  # type: ignore[union-attr]
        leader.end()
    loop.close()


def test_the_folder_of_a_simulation_is_of_a_run_and_goes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After kill -9 of this node its folder stayed in shared memory for good: no later one knew whose it was."""
    made: list[Path] = []

    def start(run_dir: Path, arguments: object) -> None:
        made.append(run_dir)
        raise RigError("twin process", expected="the first frames")

    monkeypatch.setattr("robot_client.run_folder.memory_directory", lambda: tmp_path)
    monkeypatch.setattr("yam_vam.twin.start_twin", start)
    parts = ("_twin", "_rig", "_frames", "_command", "_joints", "_diagnostics", "_timer")
    node: Any = SimpleNamespace(**dict.fromkeys(parts), _folder=None)
    with pytest.raises(RigError):
        TwinNode.up(node, {"station": "twin", "seed": 0, "instruction": "", "joint_hz": 100.0, "run_dir": ""})
    assert made[0].parent == tmp_path and (made[0] / "owner").read_bytes()
    TwinNode.down(node)
    assert list(tmp_path.iterdir()) == []
