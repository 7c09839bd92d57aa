"""How a run ends: brake, hold, on a rig that parks itself also park; then the process may go. Always bounded."""

from __future__ import annotations

from typing import Final

from robot_client.clock import NS_PER_S
from robot_client.modes import TORQUE_ON, Event, Mode
from robot_client.pilot import PERSON_EVENTS, Pilot

LONGEST_NS: Final = 6 * NS_PER_S
"""From the wish to end to the last command. The arms hold where they are when it runs out."""
_SETS_OFF: Final = frozenset(
    act for act, event in PERSON_EVENTS.items() if event in (Event.ENABLE, Event.ENGAGE, Event.PARK)
)
"""What a person may not do any more once the end has begun: it moves arms that are about to be left."""


class Ending:
    """Asked once a tick after `begin`. A person's hold during the parking ends it there, on hold."""

    def __init__(self, pilot: Pilot, parks_itself: bool) -> None:
        self._pilot, self._parks_itself = pilot, parks_itself
        self._until_ns: int | None = None
        self._parking = False

    @property
    def begun(self) -> bool:
        """The run is to end."""
        return self._until_ns is not None

    def begin(self, now_ns: int, why: str) -> None:
        """Brake and hold now; a second call changes nothing."""
        if self._until_ns is None:
            self._until_ns = now_ns + LONGEST_NS
            self._pilot.happens(Event.INTERRUPT, why)

    def refusal(self, act: str) -> str:
        """Why a person may not do this now; empty = the end has nothing against it."""
        return f"{act} refused: the run is ending" if self.begun and act in _SETS_OFF else ""

    def done(self, now_ns: int, resting: bool) -> bool:
        """Whether the process may end. Starts the parking once the arms stand."""
        if self._until_ns is None:
            return False
        mode = self._pilot.state.mode
        if mode not in TORQUE_ON or (now_ns >= self._until_ns and resting):
            return True
        if now_ns >= self._until_ns:
            self._pilot.happens(Event.INTERRUPT, "out of time")
            return False
        if mode is Mode.PARK or not resting:
            return False
        if self._parks_itself and not self._parking:
            self._parking = True
            self._pilot.happens(Event.SELF_PARK, "the run is over")
            return self._pilot.state.mode is not Mode.PARK
        return True
