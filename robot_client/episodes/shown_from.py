"""The beginning of compressed videos in a piece of a bag: nothing can be shown before a keyframe."""

from __future__ import annotations

from typing import Final

from robot_client.episodes.decoder import Decoder
from robot_client.episodes.formats.video_units import CODECS, is_keyframe
from robot_client.episodes.raw_message import RawMessage

VIDEO: Final = "foxglove_msgs/msg/CompressedVideo"


class ShownFrom:
    """Leaves out what no decoder could show. Everything that is no video is taken."""

    def __init__(self) -> None:
        self._decode = Decoder()
        self._begun: set[str] = set()

    def takes(self, message: RawMessage) -> bool:
        """Whether the message belongs into the piece."""
        if message.ros_type != VIDEO or message.topic in self._begun:
            return True
        unit = self._decode(message)
        if is_keyframe(bytes(unit.data), CODECS.get(str(unit.format), "")):
            self._begun.add(message.topic)
        return message.topic in self._begun
