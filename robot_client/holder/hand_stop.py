"""A stop that a person at a terminal asks of one arm, whoever drives it."""

from __future__ import annotations

from typing import Final

from contract.errors import RigError
from robot_client.holder.client import ArmClient
from robot_client.holder.messages import Hold
from robot_client.rigs.base import Stop

_REACHED: Final = {
    Stop.HOLD: {Hold.HOLDING, Hold.DEAF},
    Stop.RELAX: {Hold.RELAXED},
    Stop.POWER_OFF: {Hold.OFF},
}


class HandStop:
    """`ask`, then look whether it was `heard`, and what came of it."""

    def __init__(self, client: ArmClient, how: Stop) -> None:
        self._client, self._how = client, how
        self._holds_before: int | None = None
        """Of an arm that another program drives."""

    def ask(self, confirmed: bool) -> None:
        """Raises `RigError` when nobody holds the arm, or when another program drives one that is to be let go."""
        try:
            self._client.stop(self._how, confirmed)
        except RigError:
            if self._how is not Stop.HOLD:
                raise
            self._holds_before = self._client.state()[0].holds
            self._client.interfere()  # another program drives the arm; anybody may stop that

    @property
    def heard(self) -> bool:
        """Its holder has read it."""
        state, _ = self._client.state()
        if self._holds_before is None:
            return state.order >= self._client.order
        return state.holds != self._holds_before

    @property
    def obeyed(self) -> bool:
        """What a dead holder said last does not count, but of an arm that it let go."""
        state, stamp_ns = self._client.state()
        gone = state.hold is not Hold.OFF and self._client.abandoned(stamp_ns)
        return not gone and (state.hold in _REACHED[self._how] or self.client_that_saw > 0)

    @property
    def client_that_saw(self) -> int:
        """Process that drives the arm again, a moment later: only one that has seen that it was held can, and it begins
        there; 0 = none. A control loop stands in HOLD then, and tells the arm to stay."""
        state, _ = self._client.state()
        again = self._holds_before is not None and self.heard and state.hold is Hold.FOLLOWING
        return state.client if again else 0
