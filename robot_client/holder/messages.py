"""What a holder and its client leave for each other in mailboxes: fixed bytes, nothing pickled, nothing parsed.

state   holder -> anybody   stamp = when the feedback came in
order   client -> holder    stamp = when it was given; a new sequence number is the client's heartbeat
hold    anybody -> holder   a process id: hold the arm, whoever its client is
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import RigError
from contract.layout import ARM_SIZE
from robot_client.mailbox_file import Letter
from robot_client.rigs.base import Stop

_HEAD: Final = struct.Struct("<7Q2H")
_TEXT_BYTES: Final = 480
_VECTORS: Final = 6
STATE_BYTES: Final = _HEAD.size + _VECTORS * ARM_SIZE * 8 + _TEXT_BYTES
_ORDER: Final = struct.Struct("<2QB?")
ORDER_BYTES: Final = _ORDER.size + ARM_SIZE * 8
_ASKER: Final = struct.Struct("<Q")
ASKER_BYTES: Final = _ASKER.size
_KINDS: Final[tuple[Stop | None, ...]] = (None, Stop.HOLD, Stop.RELAX, Stop.POWER_OFF)


class Hold(Enum):
    """What a holder does with its arm."""

    HOLDING = "holding"
    """Torque on, target frozen."""
    FOLLOWING = "following"
    """Torque on, a client's targets."""
    RELAXED = "relaxed"
    """Gravity compensated; a person can move it."""
    FALLING = "falling"
    """The motor thread is dead: nothing holds this arm."""
    DEAF = "deaf"
    """Held, but targets do not reach the motors any more."""
    OFF = "off"
    """No torque; the holder has ended."""


TORQUE: Final = frozenset({Hold.HOLDING, Hold.FOLLOWING, Hold.DEAF})
"""States in which the arm keeps a position."""
_HOLDS: Final = tuple(Hold)


@dataclass(frozen=True, slots=True)
class ArmState:
    """One arm as its holder sees it. Vectors (7,) float64: rad, rad/s; gripper 0..1; Nm; deg C."""

    hold: Hold
    holder: int
    """Process id."""
    client: int
    """Process id of the newest client; 0 = none yet."""
    holds: int
    """How often this arm was held against its client's will. Targets count only from who has seen the newest."""
    order: int
    """Sequence of the newest order read."""
    refused: int
    """Orders not obeyed so far."""
    clipped: int
    """Gripper targets outside 0..1 that were taken as 0 or 1."""
    feedback: int
    """Number of the newest feedback."""
    positions: NDArray
    velocities: NDArray
    efforts_nm: NDArray
    held: NDArray
    """Last commanded target; NaN without torque."""
    mosfet_c: NDArray
    rotor_c: NDArray
    reason: str
    """Why it is in this state, one line."""
    alarm: str = ""
    """What a person should see to; empty = nothing."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a client wants: a target (7,), or a stop (then the target means nothing)."""

    stop: Stop | None
    target: NDArray
    client: int
    seen_holds: int
    confirmed: bool = False
    """A person confirmed that the arm is supported; RELAX and POWER_OFF need it."""


def mail(run_dir: Path, arm: str, topic: str) -> Path:
    """File of one arm's mailbox: topic "state", "order" or "hold"."""
    return run_dir / f"{arm}.{topic}.mail"


def pack_state(state: ArmState) -> bytes:
    """Fixed-size bytes."""
    reason = state.reason.encode("utf-8", "replace")[: _TEXT_BYTES // 2]
    alarm = state.alarm.encode("utf-8", "replace")[: _TEXT_BYTES - len(reason)]
    numbers = (state.holder, state.client, state.holds, state.order, state.refused, state.feedback)
    head = _HEAD.pack(*numbers, state.clipped << 8 | _HOLDS.index(state.hold), len(reason), len(alarm))
    vectors = (state.positions, state.velocities, state.efforts_nm, state.held, state.mosfet_c, state.rotor_c)
    return head + np.concatenate(vectors).astype("<f8").tobytes() + (reason + alarm).ljust(_TEXT_BYTES, b"\0")


def unpack_state(letter: Letter) -> ArmState:
    """The state of a letter; `RigError` when the bytes are something else."""
    _check("state", letter, STATE_BYTES)
    payload = letter.payload
    holder, client, holds, order, refused, feedback, kind, reason, alarm = _HEAD.unpack_from(payload)
    vectors = np.frombuffer(payload, "<f8", _VECTORS * ARM_SIZE, _HEAD.size).reshape(_VECTORS, ARM_SIZE)
    text = bytes(payload[-_TEXT_BYTES:])
    why, alert = text[:reason], text[reason : reason + alarm]
    hold, clipped = _HOLDS[kind & 0xFF], kind >> 8
    numbers = (holder, client, holds, order, refused, clipped, feedback)
    return _state(hold, numbers, tuple(vectors), why.decode("utf-8", "replace"), alert.decode("utf-8", "replace"))


def _state(hold: Hold, numbers: tuple[int, ...], vectors: tuple[NDArray, ...], reason: str, alarm: str) -> ArmState:
    holder, client, holds, order, refused, clipped, feedback = numbers
    positions, velocities, efforts_nm, held, mosfet_c, rotor_c = vectors
    return ArmState(
        hold,
        holder,
        client,
        holds,
        order,
        refused,
        clipped,
        feedback,
        positions,
        velocities,
        efforts_nm,
        held,
        mosfet_c,
        rotor_c,
        reason,
        alarm,
    )


def pack_order(order: Order) -> bytes:
    """Fixed-size bytes."""
    head = _ORDER.pack(order.client, order.seen_holds, _KINDS.index(order.stop), order.confirmed)
    return head + np.asarray(order.target, "<f8").tobytes()


def unpack_order(letter: Letter) -> Order:
    """The order of a letter, in memory of its own; `RigError` when the bytes are something else."""
    _check("order", letter, ORDER_BYTES)
    client, seen, kind, confirmed = _ORDER.unpack_from(letter.payload)
    if kind >= len(_KINDS):
        raise RigError("kind of order", expected=f"below {len(_KINDS)}", got=kind)
    target = np.frombuffer(letter.payload, "<f8", ARM_SIZE, _ORDER.size).astype(np.float64)
    return Order(_KINDS[kind], target, client, seen, confirmed)


def pack_asker(process: int) -> bytes:
    """Who asks for a hold."""
    return _ASKER.pack(process)


def unpack_asker(letter: Letter) -> int:
    """The process of a letter; `RigError` when the bytes are something else."""
    _check("hold", letter, ASKER_BYTES)
    return int(_ASKER.unpack(letter.payload)[0])


def _check(what: str, letter: Letter, expected: int) -> None:
    if len(letter.payload) != expected:
        raise RigError(f"{what} of an arm", expected=f"{expected} bytes", got=f"{len(letter.payload)} bytes")
