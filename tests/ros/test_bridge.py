"""Arms behind topics: the bridge's own process between a made-up driver and the mailboxes of rig ros."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from spinning import Spin, spinning
from yam_vam.arms_bridge import QUIET_S
from yam_vam.bridge_state import BridgeState
from yam_vam.joint_states import message_of

from contract.layout import SIZE, URDF_NAMES
from contract.station import load_station
from robot_client.clock import MonotonicClock
from robot_client.episodes.ros_messages import from_urdf
from robot_client.rigs.base import JointReading, Stop
from robot_client.rigs.ros import RosRig

pytestmark = pytest.mark.usefixtures("ros")

VALUES = np.linspace(0.1, 0.9, SIZE)


class Driver(Node):
    """Publishes its joints in a new order each time, with joints of its own; sorts what it is told by name."""

    def __init__(self) -> None:
        super().__init__("driver")
        qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._states = self.create_publisher(JointState, "joint_states", qos)
        self.create_subscription(JointState, "joint_commands", self._told, 10)
        self.create_timer(0.01, self._publish)
        self.values = VALUES
        self.twice = False
        self.told: list[dict[str, float]] = []

    def _publish(self) -> None:
        message = message_of(self.values, self.get_clock().now().nanoseconds)
        pairs = [*zip(message.name, message.position, strict=True), ("left_joint8", 9.0), ("right_joint8", 9.0)]
        random.shuffle(pairs)
        pairs += [pairs[0]] if self.twice else []
        message.name, message.position = [name for name, _ in pairs], [value for _, value in pairs]
        self._states.publish(message)

    def _told(self, message: JointState) -> None:
        self.told.append(dict(sorted(zip(message.name, message.position, strict=True))))


@pytest.fixture
def bridged(tmp_path: Path) -> Iterator[tuple[Driver, RosRig, Spin, subprocess.Popen[bytes]]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "yam_vam.arms_bridge", "--run-dir", str(tmp_path)], stdin=subprocess.PIPE
    )
    roles = [camera.role for camera in load_station("twin").cameras]
    rig = RosRig(tmp_path, tmp_path, roles, MonotonicClock())
    driver = Driver()
    with spinning(driver) as spin:
        rig.open()
        yield driver, rig, spin, process
    rig.close()
    process.kill()
    process.wait(60)


def joints(rig: RosRig) -> JointReading | None:
    from contract.errors import RigError

    try:
        return rig.joints()
    except RigError:
        return None


def test_arms_behind_topics_are_a_rig_like_any_other(bridged: Any, tmp_path: Path) -> None:
    """B21: shuffled names, extra joints, a driver that sorts: the same values by name, both ways."""
    driver, rig, spin, process = bridged
    spin.until(lambda: joints(rig) is not None, 60.0, "joints by topic")
    reading = rig.joints()
    assert reading.positions == pytest.approx(VALUES)
    assert 0 <= time.monotonic_ns() - reading.stamp_ns < 60_000_000_000
    goal = VALUES + 0.01

    def told() -> bool:
        rig.command(goal)
        return bool(driver.told)

    spin.until(told, 60.0, "a command by topic")
    assert from_urdf(np.array([driver.told[-1][name] for name in URDF_NAMES])) == pytest.approx(goal)
    assert "let the arms go" in rig.refusal(Stop.RELAX, confirmed=True)
    assert rig.refusal(Stop.HOLD, confirmed=False) == ""

    state = BridgeState(tmp_path)
    spin.until(lambda: state.trouble() == "", 60.0, "a bridge without trouble")
    driver.twice = True
    spin.until(lambda: "expected one value, got two" in state.trouble(), 60.0, "the double joint, named")
    driver.twice = False
    spin.until(lambda: state.trouble() == "", 60.0, "the end of it")
    state.close()

    rig.stop(Stop.HOLD)
    process.stdin.close()
    spin.until(lambda: process.poll() is not None, QUIET_S + 60.0, "the bridge's end after its client's")
    assert process.returncode == 0
    seen = len(driver.told)
    assert driver.told[-1] == driver.told[seen - 1]


def test_the_bridge_serves_the_loop_after_its_client_is_gone(bridged: Any) -> None:
    """A client killed with -9 closes the pipe; the loop still brakes, and its commands must reach the arms."""
    driver, rig, spin, process = bridged
    spin.until(lambda: joints(rig) is not None, 60.0, "joints by topic")
    process.stdin.close()
    begun = time.monotonic()

    def braking() -> bool:
        rig.command(VALUES)
        return time.monotonic() - begun > 3 * QUIET_S

    spin.until(braking, 60.0, "braking")
    assert process.poll() is None
    assert driver.told
    spin.until(lambda: process.poll() is not None, QUIET_S + 60.0, "the bridge's end once the loop is quiet")
    assert process.returncode == 0
