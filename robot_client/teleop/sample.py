"""What a leader says, and what it is told: fixed bytes, for a mailbox that nobody waits for."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import CodecError
from contract.layout import ARMS, SIZE, Arm, arm_of

_SAMPLE: Final = struct.Struct(f"<{SIZE}dB")
_GOAL: Final = struct.Struct(f"<{SIZE}dB")
_TEXT_BYTES: Final = 400
SAMPLE_BYTES: Final = _SAMPLE.size + _TEXT_BYTES
GOAL_BYTES: Final = _GOAL.size
_DEAD_MAN, _CLUTCH = 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class LeaderSample:
    """Where the hand is: `values` (14,) in the contract's layout, NaN for an arm that this leader does not have."""

    values: NDArray[np.float64]
    stamp_ns: int
    """When it was read, robot host's monotonic clock."""
    dead_man: bool = False
    """The operator's button is pressed."""
    clutch: bool = True
    """False: the operator moves the leader without the follower."""
    trouble: str = ""
    """Why there is no good reading, for people."""

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Arms with a whole reading."""
        return tuple(arm for arm in ARMS if np.isfinite(arm_of(self.values, arm)).all())


@dataclass(frozen=True, slots=True, eq=False)
class LeaderGoal:
    """Where the loop wants the leader: at `pose` (14,), or free to be moved by hand."""

    pose: NDArray[np.float64]
    free: bool


def pack_sample(sample: LeaderSample) -> bytes:
    """Bytes of a sample; its stamp travels with the letter."""
    flags = (_DEAD_MAN if sample.dead_man else 0) | (_CLUTCH if sample.clutch else 0)
    text = sample.trouble.encode("utf-8")[:_TEXT_BYTES]
    return _SAMPLE.pack(*np.asarray(sample.values, np.float64), flags) + text


def unpack_sample(payload: bytes, stamp_ns: int) -> LeaderSample:
    """Raises `CodecError` on another size."""
    if not _SAMPLE.size <= len(payload) <= SAMPLE_BYTES:
        raise CodecError("leader sample", expected=f"{_SAMPLE.size}..{SAMPLE_BYTES} bytes", got=len(payload))
    *values, flags = _SAMPLE.unpack(payload[: _SAMPLE.size])
    text = payload[_SAMPLE.size :].decode("utf-8", errors="replace")
    return LeaderSample(np.array(values), stamp_ns, bool(flags & _DEAD_MAN), bool(flags & _CLUTCH), text)


def pack_goal(goal: LeaderGoal) -> bytes:
    """Bytes of a goal."""
    return _GOAL.pack(*np.asarray(goal.pose, np.float64), int(goal.free))


def unpack_goal(payload: bytes) -> LeaderGoal:
    """Raises `CodecError` on another size."""
    if len(payload) != _GOAL.size:
        raise CodecError("leader goal", expected=f"{_GOAL.size} bytes", got=len(payload))
    *values, free = _GOAL.unpack(payload)
    return LeaderGoal(np.array(values), bool(free))
