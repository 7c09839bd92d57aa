"""What the loop tells supervisor and recorder: every tick in batches, and its state about ten times a second."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from contract.errors import StackError
from robot_client import local_codec
from robot_client.channel import Channel
from robot_client.clock import NS_PER_S
from robot_client.local_messages import LoopStatus, TickBatch
from robot_client.loop import Loop
from robot_client.modes import MOVING
from robot_client.pilot import Pilot
from robot_client.ticks import TickRecord, batch_of

BATCH: Final = 20
STATUS_NS: Final = NS_PER_S // 10


class Reporter:
    """Sends without waiting; what a reader does not read is dropped and counted. `recorder` is None without one."""

    def __init__(
        self,
        channel: Channel,
        pilot: Pilot,
        notes: Mapping[str, str],
        recorder: Channel | None = None,
        batch: int = BATCH,
    ) -> None:
        self._channel, self._recorder, self._batch = channel, recorder, batch
        self._pilot, self.notes = pilot, dict(notes)
        self._sent_ticks = self._unsendable = 0
        self._records: list[TickRecord] = []
        self._next_status_ns = 0
        self._mode = pilot.state.mode
        self._newest: TickRecord | None = None

    def record(self, tick: TickRecord) -> None:
        """Keep one tick; send when a batch is full."""
        self._newest = tick
        self._records.append(tick)
        if len(self._records) >= self._batch:
            self.flush()

    def flush(self) -> None:
        """Send what is there."""
        if self._records:
            self._send(batch_of(self._records, self._sent_ticks))
            self._sent_ticks += len(self._records)
            self._records.clear()

    def status_if_due(self, loop: Loop, now_ns: int) -> None:
        """Send the state when it is time, or at once when the mode changed."""
        if now_ns >= self._next_status_ns or self._pilot.state.mode is not self._mode:
            self.status(loop, now_ns, finished=False)

    def status(self, loop: Loop, now_ns: int, finished: bool) -> None:
        """Send the state."""
        self._mode, self._next_status_ns = self._pilot.state.mode, now_ns + STATUS_NS
        self._send(self._status(loop, now_ns, finished))

    def _send(self, message: TickBatch | LoopStatus) -> None:
        """What cannot be sent is counted: a report must never end the loop that holds the arms."""
        try:
            frames = local_codec.encode(message)
            self._channel.send(frames)
            if self._recorder is not None:
                self._recorder.send(frames)
        except StackError:
            self._unsendable += 1

    def _status(self, loop: Loop, now_ns: int, finished: bool) -> LoopStatus:
        state, policy, newest = self._pilot.state, self._pilot.policy, self._newest
        drives = state.mode in MOVING and self._pilot.planning is policy
        counters = {
            **loop.counts,
            **loop.watchdogs.counts,
            **self._pilot.counts,
            "reports_dropped": self._channel.dropped + self._unsendable,
        }
        if self._recorder is not None:
            counters["recorder_dropped"] = self._recorder.dropped
        if policy is not None:
            counters.update(policy.counters())
        return LoopStatus(
            stamp_ns=now_ns,
            mode=state.mode.value,
            source=self._pilot.driver,
            epoch=state.epoch,
            instruction=self._pilot.instruction,
            reason=state.reason,
            row=-1 if newest is None else newest.row,
            chunk="" if newest is None else newest.chunk_id,
            plan_left_ns=policy.left_ns(now_ns) if drives and policy is not None else 0,
            at_rest=loop.resting,
            counters={name: int(value) for name, value in counters.items()},
            notes={**self.notes, "notice": self._pilot.notice} if self._pilot.notice else self.notes,
            finished=finished,
        )
