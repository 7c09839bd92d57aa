"""A trajectory that somebody else planned (MoveIt, a script), through the same loop and safety as everything else.

It comes by mailbox, so that whoever receives it from the network is another process. Nothing that came before EXTERNAL
was entered is run, and the newest trajectory replaces what is left of the one before it.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import CodecError, FieldError, RigError
from contract.layout import SIZE
from robot_client.fade import Fade, gentle_duration_ns
from robot_client.mailbox import MailboxReader
from robot_client.modes import Event
from robot_client.safety.limits import Limits
from robot_client.sources.base import Asked, Moment

MOST_POINTS: Final = 2000
LONGEST_NS: Final = 600 * 1_000_000_000
_HEAD: Final = struct.Struct("<I")
TRAJECTORY_BYTES: Final = _HEAD.size + MOST_POINTS * 8 * (1 + SIZE)
MAILBOX: Final = "external.mail"
RAMP_SHARE: Final = 0.35
"""Of the speed and acceleration limits, for the way from told to a trajectory that begins elsewhere."""


def pack_trajectory(times_ns: NDArray[np.int64], values: NDArray[np.float64]) -> bytes:
    """Bytes of N points: times from now (N,), rising; targets (N, 14), NaN = this channel stays where it is.

    Raises `FieldError` when there are none or too many, or the times do not rise from 0 or more.
    """
    _check(times_ns, values)
    return _HEAD.pack(len(times_ns)) + times_ns.astype("<i8").tobytes() + values.astype("<f8").tobytes()


def _check(times_ns: NDArray[np.int64], values: NDArray[np.float64]) -> None:
    count = len(times_ns)
    if not 1 <= count <= MOST_POINTS or values.shape != (count, SIZE):
        raise FieldError("trajectory", expected=f"1 to {MOST_POINTS} points of {SIZE}", got=f"{count} {values.shape}")
    if times_ns[0] < 0 or (np.diff(times_ns) <= 0).any() or times_ns[-1] > LONGEST_NS:
        raise FieldError("times of a trajectory", expected="rising from 0 to 600 s", got=f"{times_ns[:5]}...")
    if np.isinf(values).any():
        raise FieldError("targets of a trajectory", expected="finite values", got="an infinite one")


def unpack_trajectory(payload: bytes) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Times (N,) and targets (N, 14). Raises `CodecError` on other bytes, `FieldError` as `pack_trajectory` does."""
    count = _HEAD.unpack_from(payload)[0] if len(payload) >= _HEAD.size else 0
    if not 1 <= count <= MOST_POINTS or len(payload) != _HEAD.size + count * 8 * (1 + SIZE):
        raise CodecError("trajectory in the mailbox", expected="points", got=f"{len(payload)} bytes")
    times_ns = np.frombuffer(payload, "<i8", count, _HEAD.size).astype(np.int64)
    values = np.frombuffer(payload, "<f8", offset=_HEAD.size + 8 * count).reshape(count, SIZE).copy()
    _check(times_ns, values)
    return times_ns, values


class ExternalSource:
    """Stands until a trajectory comes, runs it, stands at its end. Takes the arms at once: there is nothing to ramp."""

    name = "external"

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._mailbox, self._limits = MailboxReader(folder / MAILBOX), limits
        self._seen = 0
        self._points: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None
        self._ramp: Fade | None = None
        self._start_ns = 0
        self._taken = False

    def begin(self, moment: Moment) -> None:
        """Whatever lies in the mailbox is old."""
        try:
            letter = self._mailbox.newest()
        except RigError:  # no mailbox; `ask` says so
            letter = None
        self._seen = 0 if letter is None else letter.sequence
        self._points = self._ramp = None
        self._taken = False

    def continue_as(self, epoch: int) -> None:
        """HANDOFF became EXTERNAL."""

    def ask(self, moment: Moment) -> Asked:
        if not self._taken:
            self._taken = True
            return Asked(None, event=Event.TAKEN_BY_EXTERNAL, reason="a person gave the arms to external trajectories")
        try:
            self._look(moment)
        except (CodecError, FieldError, RigError) as error:
            return Asked(None, event=Event.WATCHDOG, reason=str(error))
        if self._points is None:
            return Asked(None)
        target = _on_the_way(*self._points, moment.now_ns - self._start_ns)
        return Asked(target if self._ramp is None else target + self._ramp.at(moment.now_ns))

    def close(self) -> None:
        """Let go of the mailbox."""
        self._mailbox.close()

    def _look(self, moment: Moment) -> None:
        letter = self._mailbox.newer_than(self._seen)
        if letter is None:
            return
        self._seen = letter.sequence
        times_ns, values = unpack_trajectory(letter.payload)
        told = moment.told.position
        values = np.where(np.isnan(values), told, values)
        self._ramp = None
        if times_ns[0] > 0:  # the way to the first point is part of the trajectory
            times_ns, values = np.concatenate([[0], times_ns]), np.concatenate([[told], values])
        else:
            offset = told - values[0]
            self._ramp = Fade(offset, moment.now_ns, gentle_duration_ns(offset, self._limits, RAMP_SHARE))
        self._points, self._start_ns = (times_ns, values), moment.now_ns


def _on_the_way(times_ns: NDArray[np.int64], values: NDArray[np.float64], time_ns: int) -> NDArray[np.float64]:
    """The target (14,) at a time, on straight lines between the points; the last one afterwards."""
    after = int(np.searchsorted(times_ns, time_ns, side="right"))
    if after == len(times_ns):
        return values[-1]
    part = (time_ns - times_ns[after - 1]) / (times_ns[after] - times_ns[after - 1])
    return values[after - 1] + part * (values[after] - values[after - 1])
