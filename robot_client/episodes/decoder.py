"""CDR bytes -> objects with the fields of the ROS message, by the definitions in the file."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from mcap.exceptions import McapError
from mcap.records import Schema
from mcap_ros2.decoder import DecoderFactory

from contract.errors import EpisodeError
from robot_client.episodes.cdr_read import is_little_endian
from robot_client.episodes.known_messages import known_decoder
from robot_client.episodes.raw_message import RawMessage

Decode: TypeAlias = Callable[[bytes], Any]


class Decoder:
    """Types that come hundreds of times a second have decoders of their own; the others, and bytes in the other order,
    are decoded generically, which takes ten times as long."""

    def __init__(self) -> None:
        self._by_definition: dict[tuple[str, bytes], tuple[Decode | None, Decode | None]] = {}

    def __call__(self, message: RawMessage) -> Any:
        """Raises `EpisodeError` when the message is not what its definition says."""
        schema = message.schema
        if schema is None:
            raise EpisodeError(message.topic, expected="a message definition", got="none")
        known, generic = self._by_definition.get((schema.name, schema.data)) or self._learn(message, schema)
        decode = known if known is not None and is_little_endian(message.data) else generic
        if decode is None:
            raise EpisodeError(message.topic, expected="CDR with a ros2msg definition", got=schema.encoding)
        try:
            return decode(message.data)
        except (McapError, ValueError, IndexError, KeyError, TypeError, struct.error) as error:
            raise EpisodeError(f"a message on {message.topic}", expected=message.ros_type, got=str(error)) from error

    def _learn(self, message: RawMessage, schema: Schema) -> tuple[Decode | None, Decode | None]:
        encoding = message.channel.message_encoding
        generic = DecoderFactory().decoder_for(encoding, schema)
        known = None if generic is None else known_decoder(schema.name, schema.data)
        self._by_definition[schema.name, schema.data] = known, generic
        return known, generic
