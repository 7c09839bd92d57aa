"""An ABC-130k episode as entries: joints by arm and gripper, compressed videos, the instruction.

Source of topics and fields: the data set's card (protobuf schemas inside each file). Streams have rates of their own
and may end at different times; everything keeps its own stamp.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import EpisodeError
from contract.layout import ARMS, JOINTS_PER_ARM, pack
from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.episodes.formats.bag_source import rate_of
from robot_client.episodes.formats.entries import Driver, Entry, Instruction, Joints, Kind
from robot_client.episodes.formats.in_order import InOrder
from robot_client.episodes.formats.roles import role_of
from robot_client.episodes.formats.unpacking import Unit, Unpacking
from robot_client.episodes.missing import missing_lines
from robot_client.episodes.protobuf import Fields
from robot_client.episodes.reader import BagReader
from robot_client.newest import Newest, Unfit

SOURCE: Final = "ABC-130k"
_INSTRUCTION: Final = "/instruction"
_CAMERA: Final = "-camera"
_KINDS: Final[Mapping[str, Kind]] = {"state": "measured", "action": "told"}
_PARTS: Final = {"arm": JOINTS_PER_ARM, "ee": 1}
_WINDOW_NS: Final = NS_PER_S
_SAME_NS: Final = 250 * NS_PER_MS
"""Arms and grippers are put together when none is older than this; a stream that ended is not frozen."""


class AbcSource:
    """See `EpisodeSource`. `path` is an episode.mcap or its folder."""

    def __init__(self, path: Path, tolerant: bool = False) -> None:
        self.path, self.layout, self._tolerant = path, SOURCE, tolerant
        self._file = path / "episode.mcap" if path.is_dir() else path
        self._newest: Newest[NDArray[np.float64]] = Newest()
        self._missing: tuple[str, ...] = ()
        self._instruction = ""

    @property
    def facts(self) -> Mapping[str, str]:
        """The instruction."""
        return {"instruction": self._instruction}

    @property
    def missing(self) -> tuple[str, ...]:
        """Damage, and frames that do not decode."""
        return self._missing

    def entries(self, roles: Collection[str] | None = None) -> Iterator[Entry]:
        """Raises `EpisodeError` when there are no arms or no cameras."""
        reader, unpacking = BagReader(self._file, self._tolerant), Unpacking(self._tolerant)
        self._newest, seen = Newest(), set[type]()
        for entry in unpacking.entries(self._sorted(reader, roles)):
            seen.add(type(entry))
            yield entry
        if Joints not in seen:
            raise EpisodeError(f"{self.path}", expected=f"arm states of {SOURCE}", got="none")
        self._missing = (*missing_lines(reader, {}), *unpacking.missing)

    def cameras(self) -> Mapping[str, float]:
        """By the stamps of the messages. Reads the file once."""
        seen: dict[str, tuple[int, int, int]] = {}
        for message in BagReader(self._file, self._tolerant).messages():
            if message.topic.endswith(_CAMERA):
                role = role_of(message.topic.strip("/"))
                first_ns, _, count = seen.get(role, (message.log_ns, 0, 0))
                seen[role] = (first_ns, message.log_ns, count + 1)
        return {role: rate_of(*stamps) for role, stamps in seen.items()}

    def _sorted(self, reader: BagReader, roles: Collection[str] | None) -> Iterator[Entry | Unit]:
        order: InOrder[Entry | Unit] = InOrder()
        driven = False
        for message in reader.messages():
            for item in self._items_of(message, roles):
                if not driven and isinstance(item, Joints):
                    driven = True
                    order.put(Driver(item.stamp_ns, "TELEOP", SOURCE))
                order.put(item, len(message.data))
            yield from order.until(message.log_ns - _WINDOW_NS)
        yield from order.rest()

    def _items_of(self, message: Any, roles: Collection[str] | None) -> Iterator[Entry | Unit]:
        topic = message.topic
        if topic.endswith(_CAMERA):
            role = role_of(topic.strip("/"))
            if roles is None or role in roles:
                fields = Fields(message.data)
                yield Unit(fields.stamp_ns(1) or message.log_ns, role, fields.text(4), fields.blob(3))
        elif topic == _INSTRUCTION:
            self._instruction = Fields(message.data).text(2)
            yield Instruction(message.log_ns, self._instruction)
        else:
            yield from self._joints(topic, message.data, message.log_ns)

    def _joints(self, topic: str, data: bytes, log_ns: int) -> Iterator[Entry]:
        """One arm or gripper; given out when an arm moves, with the newest of everything else."""
        arm, _, rest = topic.removeprefix("/").partition("-")
        part, _, kind = rest.partition("-")
        if arm not in ARMS or part not in _PARTS or kind not in _KINDS:
            return
        fields = Fields(data)
        values, stamp_ns = fields.doubles(2), fields.stamp_ns(1) or log_ns
        if len(values) != _PARTS[part]:
            raise EpisodeError(topic, expected=f"{_PARTS[part]} positions", got=len(values))
        self._newest.take(f"{arm}-{part}-{kind}", stamp_ns, values)
        if part == "arm":
            found = self._newest.at([f"{a}-{p}-{kind}" for a in ARMS for p in _PARTS], stamp_ns, _SAME_NS)
            if not isinstance(found, Unfit):
                left, left_grip, right, right_grip = (stamped.value for stamped in found.values())
                yield Joints(stamp_ns, _KINDS[kind], pack(left, left_grip[0], right, right_grip[0]))
