"""Bags that were recorded from ROS topics, by `ros2 bag record` or by our recorder node.

A recorder of topics knows neither what a run was nor which tick a message belongs to. The first is on a latched topic,
as JSON of the metadata records an episode has; the second is in labels and stamps: /loop/tick, /loop/clips and /mode
name their tick, asked is stamped with the tick's deadline, told with the moment it was given, measured with its own,
and /loop/tick has all three.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_S
from robot_client.episodes.channels import (
    CLIPS,
    JOINT_COMMANDS,
    JOINT_REQUESTS,
    JOINT_STATES,
    MODE,
    TICK,
    TICK_AXIS,
    TICK_FIELDS,
)
from robot_client.episodes.raw_message import RawMessage

NOTES: Final = "/episode/notes"
NO_TICK: Final = 2**32 - 1
TOPICS: Final = "topics"
"""Value of `recorded` in the metadata record `episode`: how such a bag is known."""
NOTES_WITHIN_BYTES: Final = 16 * 1024 * 1024
"""Within so much of the file the latched topic must have come; a recorder has it as soon as it has found it."""
NEAR_NS: Final = 3_000_000
"""Arms behind topics are stamped by their own node, whose clock was mapped at another moment."""
_STAMP: Final = struct.Struct("<4xiI")
_TEXT: Final = struct.Struct("<4xI")
_AXES: Final = struct.Struct("<4xII")
_VALUES: Final = struct.Struct(f"<{len(TICK_FIELDS)}q")
_FIELD: Final = {
    JOINT_REQUESTS: TICK_FIELDS.index("deadline_ns"),
    JOINT_COMMANDS: TICK_FIELDS.index("given_ns"),
    JOINT_STATES: TICK_FIELDS.index("measured_stamp_ns"),
}


def notes_of(data: bytes) -> dict[str, dict[str, str]]:
    """Name -> metadata record, from the CDR bytes of a message on NOTES. Raises `EpisodeError` on anything else."""
    try:
        found = json.loads(_text(data))
        return {str(name): {str(k): str(v) for k, v in values.items()} for name, values in found.items()}
    except (struct.error, ValueError, AttributeError) as error:
        raise EpisodeError(f"a message on {NOTES}", expected="JSON of metadata records", got=str(error)) from error


class TickNumbers:
    """Stamps of the ticks of one bag -> number of the tick, counted from the first one in the bag."""

    def __init__(self, ticks: Iterable[RawMessage], ros_offset_ns: int) -> None:
        self._offset_ns = ros_offset_ns
        rows = np.array(sorted({(_labelled(tick.data), *_values(tick)) for tick in ticks}), np.int64)
        rows = rows.reshape(-1, 1 + len(TICK_FIELDS))
        self._first = int(rows[0, 0]) if len(rows) else 0
        self._numbers = rows[:, 0] - self._first
        self._stamps = {topic: rows[:, 1 + field] for topic, field in _FIELD.items()}

    def numbered(self, messages: Iterable[RawMessage]) -> Iterator[RawMessage]:
        """The same messages; those of a tick carry its number, those whose tick is not in the bag NO_TICK."""
        for message in messages:
            number: int | None = message.sequence
            if message.topic in (TICK, CLIPS):
                number = self._counted(_labelled(message.data))
            elif message.topic == MODE:
                number = self._counted(_tick_of_mode(message.data))
            elif message.topic in _FIELD:
                number = self._nearest(message.topic, _stamp_ns(message.data) - self._offset_ns)
            yield replace(message, sequence=NO_TICK if number is None else number)

    def _counted(self, number: int) -> int | None:
        return number - self._first if number >= self._first else None

    def _nearest(self, topic: str, stamp_ns: int) -> int | None:
        """The tick whose stamp is closest; None when none is close."""
        stamps = self._stamps[topic]
        after = int(np.searchsorted(stamps, stamp_ns))
        near = [place for place in (after - 1, after) if 0 <= place < len(stamps)]
        best = min(near, key=lambda place: abs(int(stamps[place]) - stamp_ns), default=None)
        if best is None or abs(int(stamps[best]) - stamp_ns) > NEAR_NS:
            return None
        return int(self._numbers[best])


def _labelled(data: bytes) -> int:
    """Number of the tick in the label of a MultiArray's first axis; -1 when it has none."""
    count, length = _AXES.unpack_from(data) if len(data) >= _AXES.size else (0, 0)
    label = data[_AXES.size : _AXES.size + max(length - 1, 0)] if count else b""
    mark = TICK_AXIS.encode()
    return int(label[len(mark) :]) if label.startswith(mark) and label[len(mark) :].isdigit() else -1


def _tick_of_mode(data: bytes) -> int:
    """Number of the tick at which a mode began; -1 when the message does not say it."""
    try:
        return int(json.loads(_text(data))["tick"])
    except (struct.error, ValueError, KeyError, TypeError):
        return -1


def _text(data: bytes) -> bytes:
    """Of a std_msgs/String."""
    (length,) = _TEXT.unpack_from(data)
    return data[_TEXT.size : _TEXT.size + length - 1]


def _values(tick: RawMessage) -> tuple[int, ...]:
    """The fields of a /loop/tick, which are the end of its bytes."""
    return _VALUES.unpack(tick.data[-_VALUES.size :])


def _stamp_ns(data: bytes) -> int:
    seconds, nanoseconds = _STAMP.unpack_from(data)
    return int(seconds) * NS_PER_S + int(nanoseconds)


def offset_of(notes: Mapping[str, Mapping[str, str]]) -> int | None:
    """What a run added to its monotonic clock, when the bag with these records was recorded from topics; else None."""
    episode = notes.get("episode", {})
    text = episode.get("ros_offset_ns", "")
    return int(text) if episode.get("recorded") == TOPICS and text.lstrip("-").isdigit() else None
