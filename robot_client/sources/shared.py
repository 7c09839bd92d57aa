"""One arm by hand while the policy goes on with the other one."""

from __future__ import annotations

from typing import Final

import numpy as np

from contract.layout import ARMS
from robot_client.control_source import joined
from robot_client.modes import Event
from robot_client.safety.limiter import brake
from robot_client.safety.limits import Limits
from robot_client.sources.base import Asked, Moment
from robot_client.sources.policy import PolicySource
from robot_client.teleop.align import mask_of
from robot_client.teleop.source import TeleopSource

_NOT_PASSED_ON: Final = frozenset({Event.TAKEN_BY_POLICY})


class SharedSource:
    """Each channel has exactly one of the two as its source in every tick. Trouble of either one holds both arms.

    The policy keeps its rows and goes on replanning without a new engagement; it is told that the arm in the person's
    hand stays where it is, because nobody knows better, and sees in each observation where it really is.
    """

    def __init__(self, hand: TeleopSource, policy: PolicySource, limits: Limits) -> None:
        self._hand, self._policy, self._limits = hand, policy, limits
        self._begun = False

    @property
    def policy(self) -> PolicySource:
        """Whose chunks still count."""
        return self._policy

    @property
    def name(self) -> str:
        sources = {arm: self._hand.name if arm in self._hand.arms else self._policy.name for arm in ARMS}
        return joined(sources)

    def begin(self, moment: Moment) -> None:
        """The first time the policy's rows go on; later they are void: the instruction has changed (B13), which is
        nothing to the hand."""
        if self._begun:
            self._policy.begin(moment)
        else:
            self._hand.begin(moment)
            self._policy.continue_as(moment.epoch)
        self._begun = True
        self._policy.by_hand = self._hand.arms

    def continue_as(self, epoch: int) -> None:
        """TELEOP now; rows go on, what is in flight is void."""
        self._policy.continue_as(epoch)

    def ask(self, moment: Moment) -> Asked:
        hand, rows = self._hand.ask(moment), self._policy.ask(moment)
        passed_on = rows.event is not None and rows.event not in _NOT_PASSED_ON
        said = hand if hand.event is not None or not passed_on else rows
        return Asked(self._values(hand, rows, moment), rows.row, rows.fraction, rows.chunk_id, said.event, said.reason)

    def _values(self, hand: Asked, rows: Asked, moment: Moment) -> np.ndarray | None:
        """An arm whose source asks for nothing is braked alone, on the same way as both would be."""
        if hand.values is None and rows.values is None:
            return None
        braked = brake(moment.told, self._limits).told.position
        return np.where(
            mask_of(self._hand.arms),
            braked if hand.values is None else hand.values,
            braked if rows.values is None else rows.values,
        )
