"""Writes messages of another bag into a new one, definitions and all: for recovering and cutting."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_S
from robot_client.episodes.bag import CLOSING, LIBRARY
from robot_client.episodes.bag_metadata import RECORD, BagFile, BagTopic, bag_record, write_bag_metadata
from robot_client.episodes.channels import ChannelSpec
from robot_client.episodes.chunk import ChunkBuilder, definition_records
from robot_client.episodes.folder import data_file
from robot_client.episodes.mcap_file import McapFile
from robot_client.episodes.qos import numbered
from robot_client.episodes.raw_message import RawMessage

_CHUNK_BYTES: Final = 1024 * 1024


class BagCopy:
    """`open`, `add` and `note`, `close`. Raises `EpisodeError` when the folder exists or the disk fails."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._specs: dict[str, ChannelSpec] = {}
        self._definitions: dict[int, bytes] = {}
        self._builder = ChunkBuilder(self._definitions)
        self._file = McapFile(data_file(folder), self._specs, LIBRARY)
        self._since_ns = 0

    def open(self) -> None:
        """A new folder; nothing that exists is touched."""
        try:
            self._folder.mkdir(parents=True)
            self._file.open()
        except OSError as error:
            raise EpisodeError(f"{self._folder}", expected="a new folder", got=error.strerror) from error

    def add(self, message: RawMessage) -> None:
        """One message with its channel."""
        if message.topic not in self._specs:
            self._learn(message)
        if self._builder.empty:
            self._since_ns = message.log_ns
        self._builder.add(self._specs[message.topic].id, message.sequence, message.log_ns, message.data)
        if self._builder.size >= _CHUNK_BYTES or message.log_ns - self._since_ns >= NS_PER_S:
            self._flush()

    def note(self, name: str, values: Mapping[str, str]) -> None:
        """A metadata record."""
        try:
            self._file.note(name, values)
        except OSError as error:
            raise self._full(error) from error

    def notes(self, notes: Mapping[str, Mapping[str, str]]) -> None:
        """Those of the source, but for what its own file had, and whether it was complete."""
        for name, values in notes.items():
            if name not in (CLOSING, RECORD):
                self.note(name, values)

    def close(self, closing: Mapping[str, str]) -> None:
        """The closing record, the summary and metadata.yaml."""
        self._flush()
        self.note(CLOSING, closing)
        try:
            counts = self._file.counts
            topics = [BagTopic(s.topic, s.ros_type, s.qos, counts[s.id]) for s in self._specs.values()]
            part = BagFile(self._file.path.name, self._file.start_ns, self._file.end_ns, counts.total())
            self._file.note(RECORD, bag_record([part], topics, closing))
            self._file.finish()
            write_bag_metadata(self._folder, [part], topics, closing)
        except OSError as error:
            raise self._full(error) from error

    def _learn(self, message: RawMessage) -> None:
        channel, schema = message.channel, message.schema
        self._specs[message.topic] = ChannelSpec(
            id=len(self._specs) + 1,
            topic=message.topic,
            ros_type=message.ros_type,
            definition=b"" if schema is None else schema.data,
            qos=numbered(channel.metadata.get("offered_qos_profiles", "")),
            schema_encoding="" if schema is None else schema.encoding,
            message_encoding=channel.message_encoding,
        )
        self._definitions.update(definition_records(self._specs))

    def _flush(self) -> None:
        if not self._builder.empty:
            try:
                self._file.append(self._builder.finish().compressed())
            except OSError as error:
                raise self._full(error) from error

    def _full(self, error: OSError) -> EpisodeError:
        return EpisodeError(f"{self._folder}", expected="room on the disk", got=error.strerror)
