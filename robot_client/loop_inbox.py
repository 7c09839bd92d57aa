"""Messages to the loop: taken from the channels once a tick, a bounded number at a time, and handed to the pilot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from contract.errors import StackError
from contract.types import ActionChunk
from robot_client import local_codec
from robot_client.channel import Channel
from robot_client.clock import Clock
from robot_client.local_messages import CameraAges, LocalMessage, PersonEvent, PlanFailure, PolicyReady
from robot_client.modes import Event
from robot_client.pilot import Pilot
from robot_client.sources.base import Moment
from robot_client.sources.policy import PolicySource
from robot_client.watchdogs import Watchdogs

MOST: Final = 16
"""Messages of one channel in one tick; the rest waits for the next."""
LONGEST_TEXT: Final = 1000
"""Of an instruction, as in the protocol. It is repeated in every status, which must fit a datagram."""


class LoopInbox:
    """`end(why)` is called when the run is to end: a person's "finish", or the supervisor is gone."""

    def __init__(
        self,
        supervisor: Channel,
        planner: Channel,
        pilot: Pilot,
        make_policy: Callable[[PolicyReady], PolicySource],
        end: Callable[[str], None],
        watchdogs: Watchdogs,
        clock: Clock,
    ) -> None:
        self._supervisor, self._planner, self._pilot = supervisor, planner, pilot
        self._make_policy, self._end = make_policy, end
        self._watchdogs, self._clock = watchdogs, clock
        self.refusal: Callable[[PersonEvent], str] = _nothing_refused
        """Why the rig does not let a person do this now; empty = it does."""
        self._ready: PolicyReady | None = None
        self._planner_gone = False
        self.counts: Counter[str] = Counter()

    def drain(self, moment: Moment | None, may_enable: bool) -> None:
        """Hand over what has arrived. `may_enable`: there is a fresh reading to seed told from."""
        for message in self._messages(self._supervisor):
            if isinstance(message, PersonEvent):
                self._person(message, may_enable, moment)
        for message in self._messages(self._planner):
            self._plan(message, moment)
        if self._supervisor.closed:
            self._end("the supervisor is gone")
        if self._planner.closed and not self._planner_gone:
            self._planner_gone = True
            self._pilot.happens(Event.WATCHDOG, "the planner is gone")

    def _messages(self, channel: Channel) -> list[LocalMessage]:
        messages: list[LocalMessage] = []
        for _ in range(MOST):
            try:
                message = local_codec.receive(channel)
            except StackError:  # whatever it is, it is no message of this robot
                self.counts["unreadable"] += 1
                continue
            if message is None:
                break
            messages.append(message)
        return messages

    def _person(self, event: PersonEvent, may_enable: bool, moment: Moment | None) -> None:
        self._watchdogs.operator.heard(self._clock.now_ns())
        if len(event.text) > LONGEST_TEXT:
            self._pilot.refuse(f"{event.act} refused: {len(event.text)} characters, at most {LONGEST_TEXT}")
            return
        if event.act == "enable" and not may_enable:
            self._pilot.refuse("enable refused: no fresh joint reading")
            return
        if refusal := self.refusal(event):
            self._pilot.refuse(refusal)
            return
        self._pilot.person(event, moment)
        if event.act == "finish":
            self._end("end of the run")

    def _plan(self, message: LocalMessage, moment: Moment | None) -> None:
        if isinstance(message, PolicyReady):
            if message != self._ready:
                self._ready = message
                self._watchdogs.cameras.forget()
                self._pilot.adopt(self._make_policy(message))
        elif isinstance(message, CameraAges):
            self._watchdogs.cameras.heard(message.ages_ns, message.stamp_ns)
        elif moment is None:
            self.counts["answers_without_arms"] += 1
        elif isinstance(message, ActionChunk):
            self._pilot.chunk(message, moment)
        elif isinstance(message, PlanFailure):
            self._pilot.failure(message, moment.now_ns)


def _nothing_refused(event: PersonEvent) -> str:
    return ""
