"""An episode as the history of its run, for the same report that a run writes when it ends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from contract.errors import EpisodeError
from contract.layout import CHANNELS, SIZE
from contract.server_info import ServerInfo
from robot_client.control_source import arms_bits
from robot_client.demo.history import History
from robot_client.episodes import channels as topics
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.reader import BagReader
from robot_client.episodes.ros_messages import from_urdf
from robot_client.episodes.topic_bag import NO_TICK
from robot_client.local_messages import PlanFailure, ReplanRecord
from robot_client.ticks import TickRecord, batch_of

_BATCH: Final = 200
_SETTLED: Final = 200
"""Ticks after which nothing more comes for a tick: senders write in batches of 20."""
_VECTORS: Final = (topics.JOINT_REQUESTS, topics.JOINT_COMMANDS, topics.JOINT_STATES)
_NO_MASSES: Final = np.zeros((0, 0, 0, 0, 2), np.float32)


class EpisodeHistory:
    """`read` once; then `history` and `facts` are whole."""

    def __init__(self, path: Path) -> None:
        self._reader, self._decode = BagReader(path, tolerant=True), Decoder()
        self.history = History("")
        self._ticks: dict[int, dict[str, Any]] = {}
        self._records: list[TickRecord] = []
        self._first = 0
        self._mode: dict[str, Any] = {"mode": "OFF", "source": "hold"}
        self._modes: dict[int, dict[str, Any]] = {}
        self._answers: dict[str, dict[str, Any]] = {}

    @property
    def facts(self) -> dict[str, str]:
        """Name and value of what the run was."""
        facts = dict(self._reader.notes.get("episode", {}))
        text = self._reader.notes.get("policy", {}).get("server_info")
        if text is not None:
            info = ServerInfo.model_validate_json(text)
            facts |= {"policy": info.model_id, "engine": info.engine_id, "runs on": info.runs_on}
        return {**facts, "modes": ", ".join(self.history.modes)}

    def read(self) -> None:
        """Raises `EpisodeError` when it is no episode of ours."""
        for message in self._reader.messages():
            self._take(message)
        for number in sorted(self._ticks):
            self._settle(number)
        self._flush()
        if "episode" not in self._reader.notes:
            raise EpisodeError(f"{self._reader.path}", expected="an episode of ours", got="another bag")
        self.history.instruction = self._reader.notes["episode"].get("instruction", "")

    def _take(self, message: Any) -> None:
        topic = message.topic
        if message.sequence == NO_TICK:
            return
        if topic in (topics.TICK, topics.CLIPS, *_VECTORS):
            self._ticks.setdefault(message.sequence, {})[topic] = message
            for number in [number for number in self._ticks if number < message.sequence - _SETTLED]:
                self._settle(number)
        elif topic == topics.MODE:
            self._modes[message.sequence] = json.loads(self._decode(message).data)
        elif topic in (topics.OBSERVATION, topics.CHUNK, topics.ANSWER):
            self._replan(topic, message)
        elif topic == topics.FAILURE:
            self.history.add(PlanFailure(**json.loads(self._decode(message).data)))
        elif topic == topics.DIAGNOSTICS:
            self._counters(self._decode(message))

    def _settle(self, number: int) -> None:
        parts = self._ticks.pop(number)
        self._mode = self._modes.pop(number, self._mode)
        if self.history.modes[-1:] != [self._mode["mode"]]:
            self.history.modes.append(self._mode["mode"])
        if topics.TICK in parts:
            if not self._records:
                self._first = number
            self._records.append(self._record(parts))
        if len(self._records) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        if self._records:
            self.history.add(batch_of(self._records, self._first))
            self._records = []

    def _record(self, parts: Mapping[str, Any]) -> TickRecord:
        tick = dict(zip(topics.TICK_FIELDS, (int(v) for v in self._decode(parts[topics.TICK]).data), strict=True))
        asked = self._decode(parts[topics.JOINT_REQUESTS]) if topics.JOINT_REQUESTS in parts else None
        clips = self._decode(parts[topics.CLIPS]).data if topics.CLIPS in parts else None
        return TickRecord(
            deadline_ns=tick["deadline_ns"],
            stamp_ns=tick["given_ns"],
            lateness_ns=tick["lateness_ns"],
            skipped=tick["skipped"],
            mode=self._mode["mode"],
            source=self._mode["source"],
            epoch=tick["epoch"],
            asked=None if asked is None else from_urdf(np.array(asked.position)),
            told=self._vector(parts, topics.JOINT_COMMANDS),
            measured=self._vector(parts, topics.JOINT_STATES),
            measured_stamp_ns=tick["measured_stamp_ns"],
            row=tick["row"],
            fraction=tick["fraction_e9"] / 1e9,
            chunk_id="" if asked is None else asked.header.frame_id,
            clips=None if clips is None else np.array(list(clips), np.uint16),
            intervention=arms_bits(tuple(self._mode.get("intervention", ()))),
        )

    def _vector(self, parts: Mapping[str, Any], topic: str) -> Any:
        return from_urdf(np.array(self._decode(parts[topic]).position)) if topic in parts else None

    def _replan(self, topic: str, message: Any) -> None:
        decoded = self._decode(message)
        if topic == topics.CHUNK:
            name, part = decoded.header.frame_id, {"rows": [point.positions for point in decoded.points]}
        else:
            fields = json.loads(decoded.data)
            name = fields.get("id") or "{session}/{epoch}/{sequence}".format(**fields)
            part = {topic: fields}
        entry = self._answers.setdefault(name, {})
        entry |= part
        if len(entry) == 3:
            self.history.add(_replan_record(self._answers.pop(name)))

    def _counters(self, array: Any) -> None:
        for status in array.status:
            if status.name == "loop":
                counts = ((value.key, value.value) for value in status.values)
                self.history.counters = {name: int(text) for name, text in counts if text.lstrip("-").isdigit()}


def _replan_record(entry: Mapping[str, Any]) -> ReplanRecord:
    asked, answer = entry[topics.OBSERVATION], dict(entry[topics.ANSWER])
    answer.pop("id")
    answer.pop("rows")
    for name in ("branches_run", "branches_dropped"):
        answer[name] = tuple(answer[name])
    return ReplanRecord(
        session=asked["session"],
        epoch=asked["epoch"],
        sequence=asked["sequence"],
        prefix=np.array(asked["prefix"], np.float32).reshape(-1, SIZE),
        joints=np.array(asked["joints"], np.float32),
        rows=from_urdf(np.array(entry["rows"], float).reshape(-1, len(CHANNELS))).astype(np.float32),
        masses=_NO_MASSES,
        **answer,
    )
