"""Replans of an episode: each observation whole, and the answer it got."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import EpisodeError
from contract.server_info import ServerInfo
from contract.types import Branch, Observation
from robot_client.episodes import channels as topics
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.observations import from_header, image_of, observation_id
from robot_client.episodes.reader import BagReader
from robot_client.episodes.ros_messages import from_urdf

_MOST_OPEN: Final = 64
"""Questions without an answer that are remembered; older ones got none."""
_IMAGES: Final = topics.image_topic("")


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """What the policy said, without what only the clock decided."""

    rows: NDArray[np.float32]
    """(R, 14)"""
    tr_value: float
    tr_density: float
    scale_lang: float
    scale_plan: float
    branches_run: tuple[Branch, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LoggedReplan:
    """One question with its answer; None when it never got one."""

    observation: Observation
    answered: Answered | None


@dataclass(slots=True, eq=False)
class _Open:
    header: str = ""
    images: dict[str, NDArray] = field(default_factory=dict)
    rows: NDArray | None = None
    fields: dict[str, Any] | None = None


class ReplanReader:
    """One pass over an episode; what is unanswered comes at the end or when 64 newer ones are open."""

    def __init__(self, reader: BagReader) -> None:
        self._reader, self._decode = reader, Decoder()
        self._open: dict[str, _Open] = {}

    @property
    def server_info(self) -> ServerInfo | None:
        """What the server said of itself when the episode was recorded, once that was read."""
        text = self._reader.notes.get("policy", {}).get("server_info")
        return None if text is None else ServerInfo.model_validate_json(text)

    def replans(self) -> Iterator[LoggedReplan]:
        """Raises `EpisodeError` when the bag is damaged or not one of ours."""
        for message in self._reader.messages():
            name = self._take(message.topic, message)
            if name is not None and self._whole(self._open[name]):
                yield _logged(name, self._open.pop(name))
            if len(self._open) > _MOST_OPEN:
                yield from self._let_go(1)
        yield from self._let_go(len(self._open))

    def _take(self, topic: str, message: Any) -> str | None:
        """Enter one message; the id it belongs to."""
        if topic.startswith(_IMAGES):
            image = self._decode(message)
            name = str(image.header.frame_id)
            self._entry(name).images[topic.removeprefix(_IMAGES)] = image_of(bytes(image.data))
        elif topic == topics.OBSERVATION:
            text = self._decode(message).data
            fields = json.loads(text)
            name = observation_id(fields["session"], fields["epoch"], fields["sequence"])
            self._entry(name).header = text
        elif topic == topics.CHUNK:
            chunk = self._decode(message)
            name = str(chunk.header.frame_id)
            positions = np.array([point.positions for point in chunk.points], np.float64).reshape(len(chunk.points), -1)
            self._entry(name).rows = from_urdf(positions).astype(np.float32)
        elif topic == topics.ANSWER:
            fields = json.loads(self._decode(message).data)
            name = str(fields["id"])
            self._entry(name).fields = fields
        else:
            return None
        return name

    def _entry(self, name: str) -> _Open:
        return self._open.setdefault(name, _Open())

    @staticmethod
    def _whole(entry: _Open) -> bool:
        """Everything of an answered replan is there."""
        if not entry.header or entry.rows is None or entry.fields is None:
            return False
        return entry.images.keys() == json.loads(entry.header)["image_stamps_ns"].keys()

    def _let_go(self, count: int) -> Iterator[LoggedReplan]:
        """The oldest open ones; those without a whole observation are useless."""
        for name in list(self._open)[:count]:
            entry = self._open.pop(name)
            if entry.header and entry.images.keys() == json.loads(entry.header)["image_stamps_ns"].keys():
                yield LoggedReplan(from_header(entry.header, entry.images), None)


def answered_of(rows: NDArray, fields: Mapping[str, Any]) -> Answered:
    """From /policy/chunk and /policy/answer, or from a reference file."""
    try:
        return Answered(
            rows=np.asarray(rows, np.float32),
            tr_value=float(fields["tr_value"]),
            tr_density=float(fields["tr_density"]),
            scale_lang=float(fields["scale_lang"]),
            scale_plan=float(fields["scale_plan"]),
            branches_run=tuple(fields["branches_run"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise EpisodeError("recorded answer", expected="as it was recorded", got=repr(error)[:200]) from error


def _logged(name: str, entry: _Open) -> LoggedReplan:
    if entry.rows is None or entry.fields is None:
        raise EpisodeError(f"replan {name}", expected="chunk and answer", got="one of them")
    return LoggedReplan(from_header(entry.header, entry.images), answered_of(entry.rows, entry.fields))
