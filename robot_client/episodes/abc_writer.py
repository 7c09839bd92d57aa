"""Entries -> an episode.mcap in the layout of ABC-130k: protobuf messages, their schemas in the file, H.264.

Source of topics and fields: the data set's card. Arms and grippers apart, actions are what the arms were told.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Final

from mcap.writer import CompressionType, Writer
from numpy.typing import NDArray

from contract.errors import EpisodeError
from contract.layout import ARMS, gripper_of, joints_of
from robot_client.episodes.formats.entries import Entry, Instruction, Joints, Picture
from robot_client.episodes.h264 import FORM, H264Encoder
from robot_client.episodes.protobuf_write import FieldSpec, descriptor_set, doubles, field, stamp

NAME: Final = "episode.mcap"
_TIME_FILE: Final = "google/protobuf/timestamp.proto"
_TIME: Final[FieldSpec] = ("timestamp", 1, ".google.protobuf.Timestamp", False)
_VECTORS: Final = ("position", "velocity", "acceleration", "torque")
_GRIPPER: Final[list[FieldSpec]] = [_TIME, *((name, i, "double", True) for i, name in enumerate(_VECTORS, start=2))]
_TYPES: Final[dict[str, list[FieldSpec]]] = {
    "Instructions": [_TIME, ("data", 2, "string", False)],
    "RobotState": [*_GRIPPER, ("pose", 6, "double", True)],
    "GripperState": _GRIPPER,
    "foxglove.CompressedVideo": [
        _TIME,
        ("frame_id", 2, "string", False),
        ("data", 3, "bytes", False),
        ("format", 4, "string", False),
    ],
}
_SUFFIX: Final = {"measured": "state", "told": "action"}


class AbcWriter:
    """`open`, `add` in the order of stamps, `close`. Who drove has no place in this layout. Raises `EpisodeError`."""

    def __init__(self, folder: Path, rates: dict[str, float]) -> None:
        self._path, self._rates = folder / NAME, rates
        self._file: IO[bytes] | None = None
        self._writer: Writer | None = None
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}
        self._encoders: dict[str, H264Encoder] = {}
        self.messages = 0

    def open(self) -> None:
        """A new folder with one file."""
        try:
            self._path.parent.mkdir(parents=True)
            self._file = self._path.open("xb")
        except OSError as error:
            raise EpisodeError(f"{self._path.parent}", expected="a new folder", got=error.strerror) from error
        self._writer = Writer(self._file, compression=CompressionType.ZSTD)
        self._writer.start()

    def add(self, entry: Entry) -> None:
        """One entry; who drives and what was asked are left out."""
        if isinstance(entry, Joints) and entry.kind in _SUFFIX:
            self._joints(entry.stamp_ns, _SUFFIX[entry.kind], entry.values)
        elif isinstance(entry, Picture):
            self._picture(entry)
        elif isinstance(entry, Instruction):
            self._add("/instruction", "Instructions", entry.stamp_ns, field(2, entry.text))

    def close(self) -> None:
        """The file is whole afterwards."""
        if self._writer is not None and self._file is not None:
            try:
                self._writer.finish()
                self._file.close()
            except OSError as error:
                raise EpisodeError(f"{self._path}", expected="room on the disk", got=error.strerror) from error
            self._writer = self._file = None

    def _joints(self, stamp_ns: int, suffix: str, values: NDArray) -> None:
        """Grippers first: a reader that joins streams when an arm moves then has those of the same moment."""
        for arm in ARMS:
            grip = doubles(2, gripper_of(values, arm).reshape(1))
            self._add(f"/{arm}-ee-{suffix}", "GripperState", stamp_ns, grip)
        for arm in ARMS:
            self._add(f"/{arm}-arm-{suffix}", "RobotState", stamp_ns, doubles(2, joints_of(values, arm)))

    def _picture(self, entry: Picture) -> None:
        image = entry.rgb()
        if entry.role not in self._encoders:
            height, width = image.shape[:2]
            self._encoders[entry.role] = H264Encoder(height, width, self._rates.get(entry.role, 30.0))
        unit = self._encoders[entry.role].encode(image)
        data = field(2, f"{entry.role}_camera") + field(3, unit) + field(4, FORM)
        topic = f"/{entry.role.replace('_', '-')}-camera"
        self._add(topic, "foxglove.CompressedVideo", entry.stamp_ns, data)

    def _add(self, topic: str, kind: str, stamp_ns: int, data: bytes) -> None:
        if self._writer is None:
            raise EpisodeError(f"{self._path}", expected="an open file", got="none", remedy="open it first")
        if topic not in self._channels:
            if kind not in self._schemas:
                self._schemas[kind] = self._writer.register_schema(kind, "protobuf", _schema(kind))
            self._channels[topic] = self._writer.register_channel(topic, "protobuf", self._schemas[kind])
        self._writer.add_message(self._channels[topic], stamp_ns, stamp(1, stamp_ns) + data, stamp_ns, self.messages)
        self.messages += 1


def _schema(kind: str) -> bytes:
    package, _, name = kind.rpartition(".")
    seconds: list[FieldSpec] = [("seconds", 1, "int64", False), ("nanos", 2, "int32", False)]
    return descriptor_set(
        [
            (_TIME_FILE, "google.protobuf", {"Timestamp": seconds}, []),
            (f"{name}.proto", package, {name: _TYPES[kind]}, [_TIME_FILE]),
        ]
    )
