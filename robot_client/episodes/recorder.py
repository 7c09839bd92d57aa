"""The recorder: takes what loop and planner send, writes it, counts what did not come, tells the supervisor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from contract.errors import CodecError, EpisodeError
from contract.handshake import contract_hash
from contract.messages import Welcome
from contract.station import Station
from contract.types import Observation
from robot_client import local_codec
from robot_client.channel import Channel
from robot_client.clock import NS_PER_S, Clock
from robot_client.episodes import channels as topics
from robot_client.episodes import ros_messages as ros
from robot_client.episodes.bag import Bag, Tally
from robot_client.episodes.cameras import CameraWatch
from robot_client.episodes.feed import UNCOUNTED, FeedMessage, FeedReceiver
from robot_client.episodes.numbering import Gaps
from robot_client.episodes.ros_time import RosTime
from robot_client.episodes.scribe import Scribe
from robot_client.local_messages import (
    Imagined,
    LoopStatus,
    PlanFailure,
    PolicyReady,
    RecorderStatus,
    ReplanRecord,
    TickBatch,
)

FORMAT: Final = "1"
_MOST: Final = 64
"""Messages of one sender in one step."""


class Recorder:
    """`open`, then `step` often until `over`, then `close`. Never waits for anybody but, in `close`, the disk."""

    def __init__(
        self,
        bag: Bag,
        time: RosTime,
        clock: Clock,
        loop: Channel,
        supervisor: Channel,
        feed: FeedReceiver,
        cameras: CameraWatch | None = None,
    ) -> None:
        self._bag, self._time, self._clock = bag, time, clock
        self._cameras = cameras
        self._loop, self._supervisor, self._feed = loop, supervisor, feed
        self._scribe = Scribe(time, bag.add)
        self._ticks, self._planner = Gaps(), Gaps()
        self._unreadable = 0
        self._statuses = 0
        self._next_report_ns = 0
        self._finished = False

    @property
    def folder(self) -> Path:
        """Where the episode lies."""
        return self._bag.folder

    @property
    def over(self) -> bool:
        """The loop is gone; there will be no more ticks."""
        return self._loop.closed

    def open(self, station: Station, facts: Mapping[str, str]) -> None:
        """Begin the episode. Raises `EpisodeError` when there is no room for it."""
        self._bag.open(
            {
                "episode": {
                    "format": FORMAT,
                    "contract_hash": contract_hash(),
                    "ros_offset_ns": str(self._time.offset_ns),
                    "station": station.name,
                    **facts,
                },
                "station": {"json": station.model_dump_json()},
            }
        )

    def step(self) -> bool:
        """Take what is there; whether anything was."""
        busy = self._take_loop() + self._take_feed() > 0
        now_ns = self._clock.now_ns()
        if self._cameras is not None:
            self._cameras.look(now_ns)
        if now_ns >= self._next_report_ns:
            self._next_report_ns = now_ns + NS_PER_S
            self._report(now_ns)
        self._bag.tend()
        return busy

    def close(self, reason: str = "") -> RecorderStatus:
        """End the episode; the last status says how. `reason`: why it ended when it was not the end of the run."""
        trouble = reason
        if not reason and not self._finished:
            trouble = "the control loop ended without a last word"
        if not trouble and self._cameras is not None:
            trouble = self._cameras.trouble
        self._diagnose(self._clock.now_ns())
        try:
            complete = self._bag.close(self.missing(), trouble)
        except EpisodeError as error:
            trouble, complete = str(error), False
        status = self._status(self._clock.now_ns(), trouble, finished=True, complete=complete)
        local_codec.send(self._supervisor, status)
        return status

    def missing(self) -> dict[str, int]:
        """Sender -> what was lost before it came here."""
        return {
            "loop ticks": self._ticks.missing,
            "planner messages": self._planner.missing,
            "unreadable messages": self._unreadable,
        }

    def _take_loop(self) -> int:
        for number in range(_MOST):
            try:
                message = local_codec.receive(self._loop)
            except CodecError:
                self._unreadable += 1
                continue
            if message is None:
                return number
            self._from_loop(message)
        return _MOST

    def _from_loop(self, message: object) -> None:
        if isinstance(message, TickBatch):
            self._ticks.came(message.first_tick, len(message.stamp_ns))
            self._scribe.ticks(message)
        elif isinstance(message, LoopStatus):
            self._finished = self._finished or message.finished
            self._scribe.status(message, self._statuses)
            self._statuses += 1

    def _take_feed(self) -> int:
        for number in range(_MOST):
            try:
                item = self._feed.receive()
            except CodecError:
                self._unreadable += 1
                continue
            if item is None:
                return number
            if item[0] != UNCOUNTED:
                self._planner.came(item[0])
            self._from_planner(item[1], item[0])
        return _MOST

    def _from_planner(self, message: FeedMessage, number: int) -> None:
        if isinstance(message, Observation):
            self._scribe.observation(message, number)
        elif isinstance(message, ReplanRecord):
            self._scribe.answer(message, number)
        elif isinstance(message, PlanFailure):
            self._scribe.failure(message, number, self._clock.now_ns())
        elif isinstance(message, Imagined):
            self._scribe.imagined(message)
        elif isinstance(message, PolicyReady):
            self._scribe.step_ns = message.step_ns
        elif isinstance(message, Welcome):
            self._bag.note("policy", {"server_info": message.info.model_dump_json()})

    def _report(self, now_ns: int) -> None:
        self._diagnose(now_ns)
        local_codec.send(self._supervisor, self._status(now_ns, "", finished=False, complete=False))

    def _diagnose(self, now_ns: int) -> None:
        """The recorder's own counts, into the bag."""
        tallies = {topic: tally for topic, tally in self._bag.tallies().items() if tally.received}
        values: dict[str, object] = {topic: _counts(tally) for topic, tally in tallies.items()}
        values.update(self.missing())
        lost = _lost(tallies.values()) + sum(self.missing().values())
        entry = (ros.WARN if lost else ros.OK, "recorder", f"{lost} messages lost", values)
        ros_ns = self._time.of(now_ns)
        self._bag.add(topics.DIAGNOSTICS, self._statuses, ros_ns, ros.diagnostics(ros_ns, [entry]))

    def _status(self, now_ns: int, trouble: str, finished: bool, complete: bool) -> RecorderStatus:
        tallies = self._bag.tallies().values()
        return RecorderStatus(
            stamp_ns=now_ns,
            folder=str(self._bag.folder),
            written=sum(tally.written for tally in tallies),
            lost=_lost(tallies) + sum(self.missing().values()),
            backlog_bytes=self._bag.backlog_bytes,
            trouble=self._bag.trouble or trouble,
            finished=finished,
            complete=complete,
        )


def _lost(tallies: Iterable[Tally]) -> int:
    return sum(tally.lost for tally in tallies)


def _counts(tally: Tally) -> str:
    return f"received {tally.received}, written {tally.written}, lost {tally.lost}"
