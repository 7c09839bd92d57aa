"""`cameras`: every camera of the station in the mailboxes that planner and recorder read, and as topics.

A device (v4l2, realsense) has a process of its own (`robot_client.cameras`) which fills its mailbox; this node only
publishes what is there as `{role}/image_raw`. A camera that already is a topic (`topic:/name` in the station file, or
any camera with `from_topics`) is subscribed to. configure opens, activate needs a frame of every role, deactivate
publishes and subscribes no more, so that images by topic age and nothing is planned on them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from contract.errors import ConfigurationError, RigError
from contract.station import Camera, Station, load_station
from robot_client.cameras.start import Cameras
from robot_client.demo.children import end_all
from robot_client.episodes.ros_time import RosTime, ros_time_now
from robot_client.rigs.mailbox_frames import MailboxFrames
from yam_vam.diagnostics import Diagnostics
from yam_vam.frame_topics import FrameTopics
from yam_vam.image_topics import ImageTopics
from yam_vam.managed import ManagedNode
from yam_vam.parameters import STATION, Parameter
from yam_vam.running import run_node

PARAMETERS: Final = (
    STATION,
    Parameter("frames_dir", "", "folder of the camera mailboxes, the same as the client's"),
    Parameter("from_topics", False, "take every camera from {role}/image_raw, whatever device the station names"),
    Parameter("devices", [""], 'other devices, as "ROLE=KIND:NAME", for example "top=pattern:top"'),
    Parameter("logs", "out/ros/logs", "folder of the logs of the camera processes"),
)
_END_S: Final = 2.0


class CamerasNode(ManagedNode):
    """Devices by processes, topics by subscriptions; both end in mailboxes."""

    def __init__(self, told_to_end: Callable[[], int]) -> None:
        super().__init__("cameras", PARAMETERS, told_to_end)
        self._station: Station | None = None
        self._frames: MailboxFrames | None = None
        self._topics: ImageTopics | None = None
        self._devices: Cameras | None = None
        self._published: FrameTopics | None = None
        self._diagnostics: Diagnostics | None = None

    def up(self, values: dict[str, Any]) -> None:
        """Start devices and subscriptions. Raises `RigError` naming a device that gives nothing."""
        if not values["frames_dir"]:
            raise ConfigurationError("parameter frames_dir", expected="a folder", got="nothing", remedy="name it")
        folder = Path(values["frames_dir"])
        folder.mkdir(parents=True, exist_ok=True)
        self._station = station = load_station(values["station"])
        chosen = dict(_pair(text) for text in values["devices"] if text)
        self._frames = MailboxFrames(folder, [camera.role for camera in station.cameras])
        time_map = ros_time_now()
        topics = {c.role: _topic(c) for c in station.cameras if values["from_topics"] or _is_topic(c, chosen)}
        by_topic = [camera for camera in station.cameras if camera.role in topics]
        by_device = tuple(camera for camera in station.cameras if camera.role not in topics)
        self._topics = ImageTopics(self.watch, self.get_logger().error, by_topic, folder, time_map)
        self._topics.open({} if not by_topic else {r: "" if values["from_topics"] else t for r, t in topics.items()})
        if by_device:
            self._start(
                station.model_copy(update={"cameras": by_device}), chosen, folder, Path(values["logs"]), time_map
            )
        self._diagnostics = Diagnostics(self, self._report)

    def arm(self) -> None:
        """Raises `RigError` naming the roles that have had no frame."""
        if self._topics is None or self._frames is None or self._station is None:
            return
        self._topics.filling = True
        there = self._frames.frames()
        if missing := [camera.role for camera in self._station.cameras if camera.role not in there]:
            why = "; ".join(self.watch.troubles.values()) or "nothing arrived"
            raise RigError(f"cameras {', '.join(missing)}", expected="a frame", got=why, remedy="check their drivers")
        if self._published is not None:
            self._published.going = True

    def disarm(self) -> None:
        """Neither publish nor take anything more."""
        if self._topics is not None:
            self._topics.filling = False
        if self._published is not None:
            self._published.going = False

    def down(self) -> None:
        """End the devices' processes, close the mailboxes."""
        if self._devices is not None:
            children = list(self._devices.children.values())
            for child in children:
                if child.process.stdin is not None:
                    child.process.stdin.close()
            end_all(children, _END_S)
        for part in (self._diagnostics, self._published, self._topics, self._frames):
            if part is not None:
                part.close()
        self._devices = self._diagnostics = self._published = self._topics = self._frames = None

    def _start(self, station: Station, chosen: dict[str, str], folder: Path, logs: Path, time_map: RosTime) -> None:
        logs.mkdir(parents=True, exist_ok=True)
        own = {role: device for role, device in chosen.items() if role in {c.role for c in station.cameras}}
        self._devices = Cameras(station, own, folder, logs.absolute())
        for line in self._devices.start():
            self.get_logger().info(line)
            if self.told_to_end():
                raise RigError("cameras", expected="all of them", got="a signal to end")
        self._published = FrameTopics(self, station, MailboxFrames(folder, [c.role for c in station.cameras]))
        self._published.open(self.watch, time_map)

    def _report(self) -> tuple[bool, str, dict[str, object]]:
        values: dict[str, object] = dict(self.watch.troubles)
        well = not self.watch.troubles
        if self._topics is not None:
            values |= {f"frames {role}": count for role, count in self._topics.taken.items()}
            values |= {f"refused {role}": count for role, count in self._topics.refused.items()}
            values["stamps flagged"] = self._topics.flagged
            well = well and not any(self._topics.refused.values())
        for camera in self._station.cameras if self._devices is not None and self._station is not None else ():
            if (status := self._devices.status(camera.role)) is not None:
                last = f"; last trouble: {status.trouble}" if status.trouble else ""  # it stays when it is over
                values[f"camera {camera.role}"] = f"{status.state}, {status.rate_hz:g} Hz{last}"
                well = well and status.state == "delivering"
        return well, "cameras deliver" if well else "cameras have trouble", values


def _is_topic(camera: Camera, chosen: dict[str, str]) -> bool:
    return chosen.get(camera.role, camera.device).startswith("topic:")


def _topic(camera: Camera) -> str:
    return camera.device.removeprefix("topic:") if camera.device.startswith("topic:") else ""


def _pair(text: str) -> tuple[str, str]:
    role, mark, device = text.partition("=")
    if not (mark and role and device):
        raise ConfigurationError("parameter devices", expected="ROLE=KIND:NAME", got=text)
    return role, device


def main() -> int:
    """Entry point."""
    return run_node(CamerasNode)


if __name__ == "__main__":
    sys.exit(main())
