"""The rig of the twin: speaks to a twin process through its run directory. Imports no simulator.

Whoever uses half of it opens half of it: joints, camera frames and the command mailbox are each attached at first
use, so the loop never touches an image and the planner never takes the command mailbox.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import RigError
from contract.layout import SIZE
from robot_client.mailbox import MailboxReader, MailboxWriter, open_writer
from robot_client.rigs.base import Frame, JointReading, Stop
from robot_client.twin.topics import (
    COMMAND_BYTES,
    Command,
    camera_topic,
    pack_command,
    path_of,
    unpack_frame,
    unpack_joints,
)

ROLES: Final[tuple[str, ...]] = ("top", "left_wrist", "right_wrist")
_NOTHING: Final = np.zeros(SIZE)


class SimRig:
    """The twin behind `run_dir`, as a `Rig`. Stamps are the twin's, on the same host's monotonic clock."""

    def __init__(
        self, run_dir: Path, roles: Sequence[str] = ROLES, clock_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._run_dir, self._clock_ns = run_dir, clock_ns
        self._joints = MailboxReader(path_of(run_dir, "joints"))
        self._cameras = {role: MailboxReader(path_of(run_dir, camera_topic(role))) for role in roles}
        self._command: MailboxWriter | None = None

    def open(self) -> None:
        """Check that the run directory is there; the twin itself may still be starting."""
        if not self._run_dir.is_dir():
            raise RigError(
                "run directory of the twin", expected="a folder", got=self._run_dir, remedy="start the twin first"
            )

    def joints(self) -> JointReading:
        """The newest measurement; `RigError` while the twin has not measured yet."""
        letter = self._joints.newest()
        if letter is None:
            raise RigError("joints of the twin", expected="a measurement", got="none yet", remedy="wait for the twin")
        return unpack_joints(letter)

    def frames(self) -> Mapping[str, Frame]:
        """The newest frame of every role that has one; read-only images."""
        letters = {role: reader.newest() for role, reader in self._cameras.items()}
        return {role: unpack_frame(role, letter) for role, letter in letters.items() if letter is not None}

    def command(self, target: NDArray[np.float64]) -> None:
        """Set position targets (14,); `RigError` on another shape or what is not finite, and nothing is sent."""
        values = np.asarray(target, np.float64)
        if values.shape != (SIZE,) or not np.isfinite(values).all():
            raise RigError("command to the twin", expected=f"{SIZE} finite numbers", got=f"{values.shape} {values}")
        self._send(Command(values, None))

    def stop(self, how: Stop) -> None:
        """Stop in one of the three ways."""
        self._send(Command(_NOTHING, how))

    def close(self) -> None:
        """Let go of the mailboxes; the arms hold."""
        for reader in (self._joints, *self._cameras.values()):
            reader.close()
        if self._command is not None:
            self._command.close()
            self._command = None

    def _send(self, command: Command) -> None:
        if self._command is None:
            self._command = open_writer(path_of(self._run_dir, "command"), COMMAND_BYTES)
        self._command.put(pack_command(command), self._clock_ns())
