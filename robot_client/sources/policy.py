"""The policy as a source: rows of its chunks, replans, the ramp to the first row, braking when a plan is late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

import numpy as np

from contract.layout import Arm, arm_of
from contract.types import ActionChunk
from robot_client.chunk_buffer import ChunkBuffer
from robot_client.chunk_entry import Entry, Refusal, RowTarget
from robot_client.clock import NS_PER_S
from robot_client.fade import Fade, Seam, gentle_duration_ns
from robot_client.local_messages import PlanFailure, PlanRequest, PolicyReady
from robot_client.modes import Event
from robot_client.safety.limits import Limits
from robot_client.sources.base import Asked, Moment
from robot_client.sources.replanner import PlanSettings, Replanner

_HOPELESS: Final = frozenset({"vocabulary", "field", "codec", "version"})
"""Error codes of questions that asking again cannot mend."""
RAMP_SHARE: Final = 0.5
"""Of the speed and acceleration limits, for the ramp from told to the first row; the rows need the rest."""

Send = Callable[[PlanRequest], bool]


class PolicySource:
    """Begins with nothing: brakes, asks, and ramps from told to the first chunk while its rows already run.

    When rows run out it brakes, still takes a late chunk for the station's grace, and then asks for HOLD.
    """

    name = "policy"

    def __init__(self, ready: PolicyReady, settings: PlanSettings, limits: Limits, send: Send) -> None:
        self._settings, self._limits, self._send = settings, limits, send
        self._buffer = ChunkBuffer(ready.step_ns, ready.horizon, ready.max_prefix, Seam(limits))
        self._replanner = Replanner(settings, ready.step_ns, ready.answer_ns)
        self._ramp: Fade | None = None
        self._vetoed = ""
        self._taken = False
        self._last_failure = ""
        self._hopeless = ""
        self._since_ns = 0
        self._epoch = 0
        self._asked_at: dict[int, int] = {}
        self.instruction = ""
        self.by_hand: tuple[Arm, ...] = ()
        """Arms that a person moves meanwhile; the policy's rows for them do not run."""
        self.asked_ns = 0
        """When the observation of the running plan was asked for."""
        self.counts: Counter[str] = Counter()

    def begin(self, moment: Moment) -> None:
        self._buffer.engage(moment.epoch)
        self._replanner.begin(moment.now_ns)
        self._ramp, self._taken = None, False
        self._vetoed = self._last_failure = self._hopeless = ""
        self._since_ns, self._epoch = moment.now_ns, moment.epoch
        self.by_hand, self.asked_ns = (), 0
        self._asked_at = {}

    def continue_as(self, epoch: int) -> None:
        """The mode changed without a change of course: rows go on, anything in flight is void."""
        self._buffer.continue_as(epoch)
        self._replanner.void()
        self._epoch = epoch

    def ask(self, moment: Moment) -> Asked:
        if self._vetoed:
            return Asked(None, event=Event.VETO, reason=self._vetoed)
        if self._ramped(moment.now_ns) and not self._taken and not self._replanner.in_flight:
            word = self._word(moment, Event.TAKEN_BY_POLICY, "the ramp to the policy is over")
            self._taken = word.event is Event.TAKEN_BY_POLICY
            return word
        if self._replanner.due(self._buffer, moment.now_ns):
            self._request(moment)
        return self._word(moment)

    def take(self, chunk: ActionChunk, moment: Moment) -> Entry:
        """Enter a chunk that came back."""
        first = self._buffer.row_at(moment.now_ns) < 0
        entry = self._buffer.accept(chunk, moment.now_ns, self._settings.lead_ns)
        if entry.refusal is None:
            self.asked_ns = self._asked_at.get(chunk.sequence, 0)
            self._asked_at = {number: at for number, at in self._asked_at.items() if number > chunk.sequence}
        if chunk.epoch == self._epoch:
            self._replanner.answered(chunk.sequence, moment.now_ns)
        if entry.refusal is Refusal.VETO:
            self._vetoed = entry.detail
        target = self._buffer.target(moment.now_ns + self._settings.lead_ns)
        if entry.refusal is None and first and target is not None:
            self._begin_ramp(target, moment)
        return entry

    def fail(self, failure: PlanFailure, now_ns: int) -> None:
        """A request gets no chunk; the next is made soon, and what is planned runs on."""
        if failure.epoch == self._epoch:
            self._replanner.failed(failure.sequence, self._buffer, now_ns)
            self._last_failure = failure.text
            self._hopeless = failure.text if failure.code in _HOPELESS else ""
            self.counts["plan_failures"] += 1
            self._asked_at.pop(failure.sequence, None)

    def left_ns(self, now_ns: int) -> int:
        """Time until the plan expires; negative afterwards, 0 without a plan."""
        return self._buffer.left_ns(now_ns)

    def counters(self) -> dict[str, int]:
        """Requests, acceptances, refusals, standstills, underruns."""
        return {**self._buffer.counts, **self.counts, "requests_lost": self._replanner.lost}

    def _word(self, moment: Moment, event: Event | None = None, reason: str = "") -> Asked:
        target = self._buffer.target(moment.now_ns + self._settings.lead_ns)
        if target is None:
            return self._without_plan(moment)
        if not target.valid:
            return self._after_expiry(moment)
        values = target.values if self._ramp is None else target.values + self._ramp.at(moment.now_ns)
        return Asked(values, target.row, target.fraction, target.chunk_id, event, reason)

    def _without_plan(self, moment: Moment) -> Asked:
        if self._hopeless:
            return Asked(None, event=Event.WATCHDOG, reason=self._hopeless)
        if moment.now_ns - self._since_ns < self._settings.patience_ns:
            return Asked(None)
        waited_s = self._settings.patience_ns / NS_PER_S
        why = f"no chunk within {waited_s:g} s of engagement"
        return Asked(None, event=Event.WATCHDOG, reason=self._because(why))

    def _after_expiry(self, moment: Moment) -> Asked:
        self.counts["ticks_without_plan"] += 1
        if self._buffer.left_ns(moment.now_ns) > int(self._limits.period_s * NS_PER_S) - self._settings.grace_ns:
            return Asked(None)
        return Asked(None, event=Event.WATCHDOG, reason=self._because("the plan ran out"))

    def _because(self, what: str) -> str:
        return f"{what}; last failure: {self._last_failure}" if self._last_failure else what

    def _request(self, moment: Moment) -> None:
        commitment = self._replanner.commit(self._buffer, moment.now_ns)
        prefix = commitment.prefix
        for arm in self.by_hand:
            arm_of(prefix, arm)[:] = arm_of(moment.told.position, arm)
        self._asked_at[commitment.sequence] = moment.now_ns
        request = PlanRequest(
            epoch=self._epoch,
            sequence=commitment.sequence,
            first_row=commitment.first_row,
            prefix=prefix,
            joints=moment.reading.positions.astype(np.float32),
            joints_stamp_ns=moment.reading.stamp_ns,
            instruction=self.instruction,
            seed=(self._settings.seed + commitment.sequence) % 2**64,
            budget_ns=self._settings.budget_ns,
            guidance=self._settings.guidance,
            asked_ns=moment.now_ns,
        )
        self.counts["requests"] += 1
        if not self._send(request):
            self.counts["requests_unsent"] += 1
            self._replanner.failed(commitment.sequence, self._buffer, moment.now_ns)

    def _begin_ramp(self, target: RowTarget, moment: Moment) -> None:
        offset = moment.told.position - target.values
        duration_ns = gentle_duration_ns(offset, self._limits, RAMP_SHARE)
        self._ramp = Fade(offset, moment.now_ns, duration_ns)

    def _ramped(self, now_ns: int) -> bool:
        return self._ramp is not None and self._ramp.over(now_ns)
