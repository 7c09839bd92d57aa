"""Camera frames that another process leaves in mailboxes: a camera process, the ROS camera node, the twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from robot_client.mailbox import MailboxReader
from robot_client.rigs.base import Frame
from robot_client.twin.topics import camera_topic, path_of, unpack_frame


class MailboxFrames:
    """The newest frame of each role in `folder`. A mailbox that is not there yet is one without a frame."""

    def __init__(self, folder: Path, roles: Sequence[str]) -> None:
        self._cameras = {role: MailboxReader(path_of(folder, camera_topic(role))) for role in roles}

    def frames(self) -> Mapping[str, Frame]:
        """Role -> frame with its capture stamp; images are read-only. Raises `RigError` on what is no frame."""
        letters = {role: reader.newest() for role, reader in self._cameras.items()}
        return {role: unpack_frame(role, letter) for role, letter in letters.items() if letter is not None}

    def close(self) -> None:
        """Let go of the files."""
        for reader in self._cameras.values():
            reader.close()
