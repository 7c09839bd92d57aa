"""What an activation tells the loop until torque is on. No ROS."""

from __future__ import annotations

from contract.errors import RigError
from robot_client.local_messages import LoopStatus, PersonAct
from robot_client.modes import Mode
from yam_vam.client_words import last_word


class TorqueOn:
    """Of one activation. `by_itself`: no person asked for it.

    HOLD is left by a person only: whoever activates the node is one, `autostart` is not. One word of theirs leads out
    of the HOLD that was there when they gave it; a HOLD that comes later is another's word, or trouble, and stays.
    """

    def __init__(self, status: LoopStatus | None, by_itself: bool) -> None:
        self._by_itself = by_itself
        self._may_release = _holds(status)

    def act(self, status: LoopStatus | None) -> PersonAct:
        """The next word. Raises `RigError` when only a person may lead out of HOLD."""
        if not _holds(status):
            self._may_release = False
            return "enable"
        if self._by_itself:
            raise RigError("activation", expected="a person's release", got=last_word(status), remedy="~/release")
        may, self._may_release = self._may_release, False
        return "release" if may else "alive"


def _holds(status: LoopStatus | None) -> bool:
    return status is not None and status.mode == Mode.HOLD.value
