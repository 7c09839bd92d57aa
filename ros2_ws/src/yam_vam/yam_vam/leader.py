"""`leader`: a person's arms for teleoperation: as JointState on topics, or a leader device of `robot_client.teleop`.

configure opens, activate lets the loop see the leader's samples, deactivate lets them grow old, which the loop answers
by holding. A device has a process of its own, from activate to deactivate. The loop itself decides when the leader
drives: a person calls ~/teleop of the client.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from std_msgs.msg import Bool

from contract.errors import ConfigurationError, FieldError, RigError
from contract.station import load_station
from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.episodes.ros_time import ros_time_now
from robot_client.teleop.joint_state import JointStateLeader
from robot_client.teleop.mail import LeaderMail
from robot_client.teleop.side import LeaderSide
from yam_vam.diagnostics import Diagnostics
from yam_vam.joint_states import KNOWN_EXTRA
from yam_vam.managed import ManagedNode
from yam_vam.parameters import STATION, Parameter
from yam_vam.running import run_node
from yam_vam.stamps import Stamps
from yam_vam.topics import RELIABLE, table

PARAMETERS: Final = (
    STATION,
    Parameter("leader_dir", "", "folder of the leader's mailboxes, the same as the client's"),
    Parameter(
        "kind",
        "topics",
        "where the leader comes from: topics, or a device: gello (encoders), yam (motors), scripted (swings by itself)",
        choices=("topics", "gello", "yam", "scripted"),
    ),
    Parameter("logs", "out/ros/logs", "folder of the log of a device's process"),
    Parameter("joint_topics", ["leader/joint_states"], "topics with the leader's joints, by name"),
    Parameter(
        "dead_man_topic",
        "leader/dead_man",
        "std_msgs/Bool: the operator's button is pressed; to be repeated, faster than teleop.leader_ms of the station",
    ),
)
PERIOD_S: Final = 0.01


class LeaderNode(ManagedNode):
    """Joints of the leader into the mailbox, a hundred times a second."""

    def __init__(self, told_to_end: Callable[[], int]) -> None:
        super().__init__("leader", PARAMETERS, told_to_end)
        self._mail: LeaderMail | None = None
        self._leader: JointStateLeader | None = None
        self._side: LeaderSide | None = None
        self._logs = Path()
        self._diagnostics: Diagnostics | None = None
        self._timer: Any = None
        self._dead_man = False
        self._button_ns, self._button_lasts_ns = 0, 0
        self._going = False
        self.refused = 0
        self.trouble = "no message yet"

    def up(self, values: dict[str, Any]) -> None:
        """Open mailbox and subscriptions."""
        if not values["leader_dir"]:
            raise ConfigurationError("parameter leader_dir", expected="a folder", got="nothing", remedy="name it")
        folder = Path(values["leader_dir"])
        folder.mkdir(parents=True, exist_ok=True)
        self._diagnostics = Diagnostics(self, self._report)
        if values["kind"] != "topics":
            self._side, self._logs = (
                LeaderSide(values["kind"], values["station"], folder),
                Path(values["logs"]).absolute(),
            )
            self.trouble = ""
            return
        station = load_station(values["station"])
        self._leader = JointStateLeader(station, KNOWN_EXTRA)
        self._button_lasts_ns = int(station.teleop.leader_ms * NS_PER_MS)
        self._mail = LeaderMail(folder)
        self._mail.open()
        states, time_map = table()["/joint_states"], ros_time_now()
        for topic in values["joint_topics"]:
            stamps = Stamps(time_map)
            take = lambda message, topic=topic, stamps=stamps: self._came(topic, message, stamps)  # noqa: E731
            self.watch.subscribe(topic, states.kind, states.qos, take, alone=True)
        self.watch.subscribe(values["dead_man_topic"], Bool, RELIABLE, self._button)
        self._timer = self.create_timer(PERIOD_S, self._pass_on)

    def arm(self) -> None:
        """From now on the loop sees the leader. Raises `RigError` when a device does not read."""
        if self._side is not None:
            self._logs.mkdir(parents=True, exist_ok=True)
            self._side.start(self._logs)
        self._going = True

    def disarm(self) -> None:
        """The last sample grows old."""
        self._going = False
        if self._side is not None:
            self._side.close()

    def down(self) -> None:
        """Let go of everything."""
        self.disarm()
        if self._timer is not None:
            self.destroy_timer(self._timer)
            self._timer = None
        for part in (self._diagnostics, self._mail):
            if part is not None:
                part.close()
        self._diagnostics = self._mail = self._leader = self._side = None

    def _came(self, topic: str, message: Any, stamps: Stamps) -> None:
        stamp = message.header.stamp
        stamp_ns = stamps.monotonic(stamp.sec * NS_PER_S + stamp.nanosec, time.monotonic_ns())
        try:
            if self._leader is not None:
                self._leader.take(list(message.name), list(message.position), stamp_ns)
        except FieldError as error:
            self.refused += 1
            self.get_logger().error(f"{topic}: {error}", throttle_duration_sec=2.0)

    def _button(self, message: Bool) -> None:
        self._dead_man, self._button_ns = message.data, time.monotonic_ns()

    def _pressed(self) -> bool:
        """A button that nobody speaks of any more is one that was let go."""
        return self._dead_man and time.monotonic_ns() - self._button_ns <= self._button_lasts_ns

    def _pass_on(self) -> None:
        if self._going and self._leader is not None and self._mail is not None:
            sample = self._leader.sample(dead_man=self._pressed())
            self.trouble = sample.trouble
            if sample.stamp_ns:
                self._mail.put(sample)

    def _report(self) -> tuple[bool, str, dict[str, object]]:
        values: dict[str, object] = {"refused": self.refused, **self.watch.troubles}
        if self._side is not None and self._going:
            try:
                self._side.require_running()
            except RigError as error:
                self.trouble = str(error)
        well = not (self.trouble or self.watch.troubles)
        return well, self.trouble or "the leader is read", values


def main() -> int:
    """Entry point."""
    return run_node(LeaderNode)


if __name__ == "__main__":
    sys.exit(main())
