"""Bags that were recorded from ROS topics, by `ros2 bag record` or by our recorder node.

A recorder of topics knows neither what a run was nor which tick a message belongs to. The first is on a latched topic,
as JSON of the metadata records an episode has; the second is in the stamps: asked is stamped with the tick's deadline,
told with the moment it was given, measured with its own, and /loop/tick has all three.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_S
from robot_client.episodes.channels import CLIPS, JOINT_COMMANDS, JOINT_REQUESTS, JOINT_STATES, MODE, TICK, TICK_FIELDS
from robot_client.episodes.mcap_scan import RawMessage

NOTES: Final = "/episode/notes"
_STAMP: Final = struct.Struct("<4xiI")
_TEXT: Final = struct.Struct("<4xI")
_VALUES: Final = struct.Struct(f"<{len(TICK_FIELDS)}q")
_FIELD: Final = {
    JOINT_REQUESTS: TICK_FIELDS.index("deadline_ns"),
    JOINT_COMMANDS: TICK_FIELDS.index("given_ns"),
    JOINT_STATES: TICK_FIELDS.index("measured_stamp_ns"),
}


def notes_of(data: bytes) -> dict[str, dict[str, str]]:
    """Name -> metadata record, from the CDR bytes of a message on NOTES. Raises `EpisodeError` on anything else."""
    try:
        (length,) = _TEXT.unpack_from(data)
        found = json.loads(data[_TEXT.size : _TEXT.size + length - 1])
        return {str(name): {str(k): str(v) for k, v in values.items()} for name, values in found.items()}
    except (struct.error, ValueError, AttributeError) as error:
        raise EpisodeError(f"a message on {NOTES}", expected="JSON of metadata records", got=str(error)) from error


class TickNumbers:
    """Stamps of the ticks of one bag -> number of the tick, counted from its first."""

    def __init__(self, ticks: Iterable[RawMessage], ros_offset_ns: int) -> None:
        self._offset_ns = ros_offset_ns
        rows = sorted({_VALUES.unpack(tick.data[-_VALUES.size :]) for tick in ticks})
        self._by_stamp = {
            topic: {row[field]: number for number, row in enumerate(rows)} for topic, field in _FIELD.items()
        }
        self._by_deadline = self._by_stamp[JOINT_REQUESTS]

    def numbered(self, messages: Iterable[RawMessage]) -> Iterator[RawMessage]:
        """The same messages; those of a tick carry its number, those whose tick is not in the bag are left out."""
        newest = -1
        for message in messages:
            number: int | None = message.sequence
            if message.topic == TICK:
                number = newest = self._by_deadline[_VALUES.unpack(message.data[-_VALUES.size :])[0]]
            elif message.topic in _FIELD:
                number = self._by_stamp[message.topic].get(_stamp_ns(message.data) - self._offset_ns)
            elif message.topic in (CLIPS, MODE):  # without a stamp; they were sent just before their tick
                number = newest + 1
            if number is not None:
                yield replace(message, sequence=number)


def _stamp_ns(data: bytes) -> int:
    seconds, nanoseconds = _STAMP.unpack_from(data)
    return int(seconds) * NS_PER_S + int(nanoseconds)


def offset_of(notes: dict[str, dict[str, Any]]) -> int | None:
    """What the run added to its monotonic clock; None for a bag that is not of a run of ours."""
    text = notes.get("episode", {}).get("ros_offset_ns", "")
    return int(text) if text.lstrip("-").isdigit() else None
