"""When a person's hand corrects the policy, so that the ticks can be told from others and trained on."""

from __future__ import annotations

from typing import Final

from contract.layout import Arm
from robot_client.modes import Mode

_ENDS: Final = frozenset({Mode.OFF, Mode.RELAXED, Mode.IDLE, Mode.PARK, Mode.REPLAY, Mode.EXTERNAL})
"""After one of these the person begins something else."""


class Intervention:
    """The arms were the policy's and a person took them; a HOLD in between is part of it."""

    def __init__(self) -> None:
        self._was_policy = False

    def mode(self, mode: Mode) -> None:
        """The mode changed."""
        if mode is Mode.POLICY:
            self._was_policy = True
        elif mode in _ENDS:
            self._was_policy = False

    def arms(self, by_hand: tuple[Arm, ...]) -> tuple[Arm, ...]:
        """Of the arms in a person's hand, those whose motion is an intervention."""
        return by_hand if self._was_policy else ()
