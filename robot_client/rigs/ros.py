"""The rig behind ROS topics, as the loop and the planner see it: mailboxes that ROS nodes fill and empty.

No ROS here. `ros2_ws` has the processes on the other side: `arms_bridge` turns /joint_states into the mailbox `joints`
and the mailbox `command` into /joint_commands; `cameras` turns image topics into camera mailboxes. So no executor, no
image callback and no discovery ever stands between the loop and its next tick.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_client.clock import Clock
from robot_client.rigs.base import Frame, JointReading, Stop
from robot_client.rigs.mailbox_frames import MailboxFrames
from robot_client.rigs.sim import SimRig

_WHY: Final = "topics carry targets and no torque: let the arms go at the node that drives them"


class RosRig:
    """Arms behind `run_dir` (joints, command), cameras behind `frames_dir`."""

    def __init__(self, run_dir: Path, frames_dir: Path, roles: Sequence[str], clock: Clock) -> None:
        self._arms = SimRig(run_dir, (), clock.now_ns)
        self._cameras = MailboxFrames(frames_dir, roles)

    def open(self) -> None:
        """Check that the run directory is there; the bridge may still be starting."""
        self._arms.open()

    def joints(self) -> JointReading:
        """The newest measurement that came by topic; `RigError` before the first."""
        return self._arms.joints()

    def frames(self) -> Mapping[str, Frame]:
        """The newest frame of each camera role."""
        return self._cameras.frames()

    def command(self, target: NDArray[np.float64]) -> None:
        """Targets (14,) for the next /joint_commands. Refuses what is not finite."""
        self._arms.command(target)

    def stop(self, how: Stop) -> None:
        """HOLD ends the stream of commands, which whoever drives the arms answers by holding them.

        The other two stops never come here, see `refusal`.
        """
        self._arms.stop(how)

    def refusal(self, how: Stop, confirmed: bool) -> str:
        """RELAX and POWER_OFF cannot be said by topic."""
        return "" if how is Stop.HOLD else f"{how.value} refused: {_WHY}"

    def close(self) -> None:
        """Let go of the mailboxes; the arms hold."""
        self._arms.close()
        self._cameras.close()
