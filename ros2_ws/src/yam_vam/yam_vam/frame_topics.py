"""Camera mailboxes -> image topics with their camera_info."""

from __future__ import annotations

from typing import Any, Final

from rclpy.node import Node

from contract.station import Station
from robot_client.episodes.ros_time import RosTime
from robot_client.rigs.mailbox_frames import MailboxFrames
from yam_vam.calibrated_urdf import camera_frame
from yam_vam.camera_info import camera_info
from yam_vam.images import image_of
from yam_vam.qos_watch import QosWatch
from yam_vam.topics import role_topic

LOOK_S: Final = 0.005
"""Between two looks at the mailboxes; a frame waits half of it on average."""


class FrameTopics:
    """Publishes every frame that is new while `going`."""

    def __init__(self, node: Node, station: Station, frames: MailboxFrames) -> None:
        self._node, self._station, self._frames = node, station, frames
        self._ends: dict[str, tuple[Any, Any, Any]] = {}
        self._newest: dict[str, int] = {}
        self._timer: Any = None
        self.going = False

    def open(self, watch: QosWatch, time_map: RosTime) -> None:
        """Make the publishers."""
        for camera in self._station.cameras:
            image, info = (role_topic(name, camera.role) for name in ("/{role}/image_raw", "/{role}/camera_info"))
            images, infos = (watch.advertise(topic.name, topic.kind, topic.qos) for topic in (image, info))
            self._ends[camera.role] = (images, infos, camera_info(camera, self._station))
        self._timer = self._node.create_timer(LOOK_S, lambda: self._look(time_map))

    def close(self) -> None:
        """Publish no more."""
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
        self._frames.close()

    def _look(self, time_map: RosTime) -> None:
        if not self.going:
            return
        for role, frame in self._frames.frames().items():
            if frame.stamp_ns <= self._newest.get(role, 0):
                continue
            self._newest[role] = frame.stamp_ns
            images, infos, info = self._ends[role]
            message = image_of(frame.image, time_map.of(frame.stamp_ns), camera_frame(role))
            info.header = message.header
            images.publish(message)
            infos.publish(info)
