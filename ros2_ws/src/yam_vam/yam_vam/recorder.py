"""`recorder`: an episode from topics, whoever publishes them, as `ros2 bag record` would make one.

For a run of our own client `yam-robot` records more exactly (docs/episodes.md): topics may be lost on the way, and what
is lost is not known here. configure watches the graph, activate begins the next episode, deactivate closes it. Each
topic is taken with the QoS its publishers offer, best effort or reliable, so that nothing is silently not there.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from contract.errors import ConfigurationError, EpisodeError, StackError
from contract.station import Station, load_station
from robot_client.clock import NS_PER_S, MonotonicClock
from robot_client.episodes import channels
from robot_client.episodes import ros_messages as ros
from robot_client.episodes.bag import Bag
from robot_client.episodes.cameras import jpeg_of
from robot_client.episodes.ros_time import RosTime, ros_time_now
from robot_client.episodes.topic_bag import NOTES, notes_of
from yam_vam.diagnostics import Diagnostics
from yam_vam.images import rgb_of
from yam_vam.managed import ManagedNode
from yam_vam.parameters import STATION, Parameter
from yam_vam.running import run_node
from yam_vam.topics import DEPTH, RosTopic, loop_topics, notes_topic, role_topic

PARAMETERS: Final = (
    STATION,
    Parameter("directory", "", "folder of episodes; the recording becomes the next one"),
)
LOOK_S: Final = 0.5
_TEND_S: Final = 0.1


class RecorderNode(ManagedNode):
    """One bag while active; the latched topics are asked for again each time."""

    def __init__(self, told_to_end: Callable[[], int]) -> None:
        super().__init__("recorder", PARAMETERS, told_to_end)
        self._bag: Bag | None = None
        self._time = RosTime(0)
        self._station: Station | None = None
        self._directory = Path()
        self._wanted: dict[str, RosTopic] = {}
        self._beats: list[Any] = []
        self._diagnostics: Diagnostics | None = None
        self.counts: Counter[str] = Counter()
        self.trouble = ""

    def up(self, values: dict[str, Any]) -> None:
        """Nothing is written yet."""
        if not values["directory"]:
            raise ConfigurationError("parameter directory", expected="a folder", got="nothing", remedy="name it")
        self._station = load_station(values["station"])
        self._directory, self._time = Path(values["directory"]), ros_time_now()
        self._diagnostics = Diagnostics(self, self._report)

    def arm(self) -> None:
        """Begin the next episode. Raises `EpisodeError` when there is no room for it."""
        self._bag, self.trouble = Bag(self._directory, MonotonicClock()), ""
        self._bag.open({})
        self.counts.clear()
        self._wanted = {**loop_topics(), NOTES: notes_topic()}
        for camera in self._station.cameras if self._station else ():
            for name in ("/{role}/image_raw", "/policy/observation/{role}"):
                self._wanted[name.format(role=camera.role)] = role_topic(name, camera.role)
        self._beats = [self.create_timer(LOOK_S, self._look), self.create_timer(_TEND_S, self._tend)]
        self._look()
        self.get_logger().info(f"recording to {self._bag.folder}")

    def disarm(self) -> None:
        """Close the episode."""
        self._close()
        self.watch.close_all()

    def down(self) -> None:
        """Close whatever is open."""
        self._close()
        if self._diagnostics is not None:
            self._diagnostics.close()
            self._diagnostics = None

    def _close(self) -> None:
        for timer in self._beats:
            self.destroy_timer(timer)
        self._beats = []
        bag, self._bag = self._bag, None
        if bag is None:
            return
        complete = bag.close({}, self.trouble)
        said = self.get_logger().info if complete else self.get_logger().error
        said(f"episode {bag.folder}: {sum(self.counts.values())} messages{'' if complete else ', INCOMPLETE'}")
        if not complete:
            self.exit_code = 1

    def _look(self) -> None:
        """Subscribe to each topic once somebody publishes it, with what its publishers offer."""
        for name, topic in list(self._wanted.items()):
            peers = self.get_publishers_info_by_topic(self.resolve_topic_name(topic.name))
            if not peers:
                continue
            del self._wanted[name]
            image = name.endswith("/image_raw")
            take = partial(self._picture, name) if image else partial(self._raw, name)
            self.watch.subscribe(topic.name, topic.kind, _offered(peers), take, raw=not image)

    def _raw(self, name: str, data: bytes) -> None:
        """Bytes as they came, stamped with their arrival like any recorder of topics does."""
        if name == NOTES:
            self._note(data)
        else:
            self._add(name, self._time.of(time.monotonic_ns()), data)

    def _note(self, data: bytes) -> None:
        try:
            for what, values in notes_of(data).items():
                if self._bag is not None:
                    self._bag.note(what, values)
        except EpisodeError as error:
            self.get_logger().error(str(error))

    def _picture(self, name: str, message: Any) -> None:
        """A camera's frame, as JPEG under the stamp of its message."""
        role = name.removeprefix("/").removesuffix("/image_raw")
        ros_ns = message.header.stamp.sec * NS_PER_S + message.header.stamp.nanosec
        try:
            data = jpeg_of(rgb_of(message))
        except StackError as error:
            self.get_logger().error(f"{name}: {error}", throttle_duration_sec=2.0)
            return
        frame = ros.compressed_image(ros_ns, message.header.frame_id, "jpeg", data)
        self._add(channels.camera_topic(role), self._time.of(time.monotonic_ns()), frame)

    def _add(self, name: str, ros_ns: int, data: bytes) -> None:
        if self._bag is not None:
            self._bag.add(name, self.counts[name], ros_ns, data)
            self.counts[name] += 1

    def _tend(self) -> None:
        if self._bag is None:
            return
        self._bag.tend()
        if self._bag.trouble and not self.trouble:
            self.trouble = self._bag.trouble
            self.get_logger().error(f"recording stopped: {self.trouble}")

    def _report(self) -> tuple[bool, str, dict[str, object]]:
        troubles = dict(self.watch.troubles)
        text = self.trouble or ("recording" if self._bag is not None else "not recording")
        return not (self.trouble or troubles), text, {**self.counts, **troubles}


def _offered(peers: list[Any]) -> QoSProfile:
    """What all publishers of a topic can give."""
    reliable = all(peer.qos_profile.reliability == ReliabilityPolicy.RELIABLE for peer in peers)
    latched = all(peer.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for peer in peers)
    return QoSProfile(
        depth=DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def main() -> int:
    """Entry point."""
    return run_node(RecorderNode)


if __name__ == "__main__":
    sys.exit(main())
