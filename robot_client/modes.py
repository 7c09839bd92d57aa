"""Modes of the robot: a total, pure function of (mode, event).

Trouble leads to HOLD, and only a person leads out of HOLD, FAULT or FALLING. An event that is not in the row of a mode
changes nothing. The epoch rises with every change, so an answer asked for before it is never run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Mode(Enum):
    """What drives the arms."""

    OFF = "OFF"
    """No torque."""
    RELAXED = "RELAXED"
    """Gravity compensated; a person can move the arms."""
    IDLE = "IDLE"
    """Torque on, standing, ready."""
    TELEOP = "TELEOP"
    HANDOFF = "HANDOFF"
    """A new source takes over: it gets ready, then a ramp leads to what it asks for."""
    POLICY = "POLICY"
    REPLAY = "REPLAY"
    EXTERNAL = "EXTERNAL"
    HOLD = "HOLD"
    """Braked, target frozen, until a person acts."""
    PARK = "PARK"
    """Moving to a pose of the station, because a person said so (the twin also by itself)."""
    FALLING = "FALLING"
    """An arm's motor thread died: that arm is not held. The other one holds."""
    FAULT = "FAULT"
    """The rig does not answer; nobody knows whether the arms are held."""


class Event(Enum):
    """What can happen."""

    ENABLE = "enable"
    RELAX = "relax"
    POWER_OFF = "power_off"
    ENGAGE = "engage"
    """A person hands the arms to a source."""
    HOLD = "hold"
    RELEASE = "release"
    PARK = "park"
    """A person sends the arms to a pose of the station."""
    INSTRUCTION = "instruction"
    INTERRUPT = "interrupt"
    """SIGINT, SIGTERM, the end of the run or of the process that started this one."""
    TAKEN_BY_TELEOP = "taken_by_teleop"
    TAKEN_BY_POLICY = "taken_by_policy"
    TAKEN_BY_REPLAY = "taken_by_replay"
    TAKEN_BY_EXTERNAL = "taken_by_external"
    ARRIVED = "arrived"
    SELF_PARK = "self_park"
    """The twin parks by itself; on any other rig this changes nothing."""
    WATCHDOG = "watchdog"
    """Plan, joints or a peer too late."""
    VETO = "veto"
    """Something asked for what must not reach an arm."""
    RIG_FAILED = "rig_failed"
    MOTOR_DEAD = "motor_dead"


PERSON: Final = frozenset(
    {Event.ENABLE, Event.RELAX, Event.POWER_OFF, Event.ENGAGE, Event.HOLD, Event.RELEASE, Event.PARK, Event.INSTRUCTION}
)
"""Events that only a person causes."""
TROUBLE: Final = frozenset({Event.INTERRUPT, Event.WATCHDOG, Event.VETO})
MOVING: Final = frozenset({Mode.TELEOP, Mode.HANDOFF, Mode.POLICY, Mode.REPLAY, Mode.EXTERNAL, Mode.PARK})
"""Modes in which a source moves the arms."""
TORQUE_ON: Final = MOVING | {Mode.IDLE, Mode.HOLD}
"""Modes in which the loop commands targets."""
_RENEWS: Final = frozenset({Event.ENGAGE, Event.HOLD, Event.PARK, Event.INSTRUCTION, Event.INTERRUPT})
"""Events that make older answers worthless even where the mode stays, and let the driving source begin anew."""

_TAKEN: Final = {
    Event.TAKEN_BY_TELEOP: Mode.TELEOP,
    Event.TAKEN_BY_POLICY: Mode.POLICY,
    Event.TAKEN_BY_REPLAY: Mode.REPLAY,
    Event.TAKEN_BY_EXTERNAL: Mode.EXTERNAL,
}
_UNPOWERED: Final = {Event.ENABLE: Mode.IDLE, Event.RELAX: Mode.RELAXED, Event.POWER_OFF: Mode.OFF}
_STANDING: Final = {
    Event.RELAX: Mode.RELAXED,
    Event.POWER_OFF: Mode.OFF,
    Event.ENGAGE: Mode.HANDOFF,
    Event.PARK: Mode.PARK,
    Event.RIG_FAILED: Mode.FAULT,
    Event.MOTOR_DEAD: Mode.FALLING,
}
_DRIVEN: Final = {
    **dict.fromkeys((Event.HOLD, *TROUBLE), Mode.HOLD),
    Event.ENGAGE: Mode.HANDOFF,
    Event.PARK: Mode.PARK,
    Event.RIG_FAILED: Mode.FAULT,
    Event.MOTOR_DEAD: Mode.FALLING,
}

TABLE: Final[Mapping[Mode, Mapping[Event, Mode]]] = {
    Mode.OFF: {**_UNPOWERED, Event.RIG_FAILED: Mode.FAULT},
    Mode.RELAXED: {**_UNPOWERED, Event.RIG_FAILED: Mode.FAULT, Event.MOTOR_DEAD: Mode.FALLING},
    Mode.IDLE: {**_STANDING, **dict.fromkeys((Event.HOLD, *TROUBLE), Mode.HOLD)},
    Mode.HOLD: {**_STANDING, Event.RELEASE: Mode.IDLE},
    Mode.HANDOFF: {**_DRIVEN, **_TAKEN},
    Mode.POLICY: {**_DRIVEN, Event.INSTRUCTION: Mode.HANDOFF},
    Mode.TELEOP: _DRIVEN,
    Mode.REPLAY: _DRIVEN,
    Mode.EXTERNAL: _DRIVEN,
    Mode.PARK: {**_DRIVEN, Event.ARRIVED: Mode.HOLD},
    Mode.FALLING: _UNPOWERED,
    Mode.FAULT: {**_UNPOWERED, Event.MOTOR_DEAD: Mode.FALLING},
}
"""Where each event leads; one that is not listed leaves the mode as it is."""


def next_mode(mode: Mode, event: Event, parks_itself: bool = False) -> Mode:
    """The mode after `event`; `parks_itself` is true only for rigs that cannot hurt anybody (twin, ideal)."""
    if event is Event.SELF_PARK:
        return Mode.PARK if parks_itself and mode in (Mode.HOLD, Mode.IDLE) else mode
    return TABLE[mode].get(event, mode)


@dataclass(frozen=True, slots=True)
class ModeState:
    """The mode, why it was entered, and the epoch."""

    mode: Mode = Mode.OFF
    epoch: int = 0
    reason: str = "started"

    def after(self, event: Event, reason: str, parks_itself: bool = False) -> ModeState:
        """The state after `event`; the epoch rises with every change of mode and with every pause, stop, reset."""
        mode = next_mode(self.mode, event, parks_itself)
        if mode is self.mode and event not in _RENEWS:
            return self
        return ModeState(mode, self.epoch + 1, reason if mode is not self.mode else self.reason)
