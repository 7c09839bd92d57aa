"""Who drives: the mode, the source that belongs to it, and what each event does to both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from contract.types import ActionChunk
from robot_client.local_messages import PersonEvent, PlanFailure
from robot_client.modes import MOVING, TABLE, Event, Mode, ModeState
from robot_client.sources.base import Asked, Moment, TargetSource
from robot_client.sources.hold import HoldSource
from robot_client.sources.policy import PolicySource

_PERSON: Final[Mapping[str, Event]] = {
    "enable": Event.ENABLE,
    "relax": Event.RELAX,
    "power_off": Event.POWER_OFF,
    "engage": Event.ENGAGE,
    "replay": Event.ENGAGE,
    "hold": Event.HOLD,
    "stop": Event.HOLD,
    "release": Event.RELEASE,
    "home": Event.PARK,
    "park": Event.PARK,
}


class Pilot:
    """One source drives at a time. `poses` are the sources of "home" and "park"."""

    def __init__(self, poses: Mapping[str, TargetSource], parks_itself: bool) -> None:
        self._poses, self._parks_itself = poses, parks_itself
        self._hold = HoldSource()
        self._driver: TargetSource = self._hold
        self._begun_epoch = 0
        self.policy: PolicySource | None = None
        self.episode: TargetSource | None = None
        """What a person's "replay" hands the arms to."""
        self.state = ModeState()
        self.instruction = ""
        self.notice = ""
        """Why the last thing a person asked for was not done."""
        self.counts: Counter[str] = Counter()

    @property
    def driver(self) -> str:
        """Name of the source that drives."""
        return self._driver.name

    def adopt(self, policy: PolicySource) -> None:
        """A policy can be engaged from now on. If another one drives, the arms hold first."""
        if self._drives(self.policy):
            self.happens(Event.WATCHDOG, "the policy server changed")
        self.policy = policy

    def person(self, event: PersonEvent) -> None:
        """What a person did. What cannot be done now is counted and changes nothing."""
        if event.act == "instruction":
            self._instruct(event.text)
        elif event.act == "finish":
            self.happens(Event.INTERRUPT, "end of the run")
        elif event.act == "engage" and self.policy is None:
            self.refuse("engage refused: no policy server has answered yet")
        elif event.act == "replay" and self.episode is None:
            self.refuse("replay refused: no episode was given")
        else:
            self._act(event.act)

    def happens(self, event: Event, reason: str) -> None:
        """An event of any kind; a change of mode changes the source with it."""
        before = self.state
        self.state = before.after(event, reason, self._parks_itself)
        if self.state.mode is not before.mode:
            self.counts[f"event_{event.value}"] += 1
        if self.state is before:
            return
        if self.state.mode is Mode.POLICY and before.mode is Mode.HANDOFF and self.policy is not None:
            self.policy.continue_as(self.state.epoch)
            self._begun_epoch = self.state.epoch
        elif self.state.mode is Mode.REPLAY and before.mode is Mode.HANDOFF:
            self._begun_epoch = self.state.epoch
        elif self.state.mode not in MOVING:
            self._driver = self._hold
        elif event is Event.SELF_PARK:
            self._driver = self._poses["park"]

    def ask(self, moment: Moment) -> Asked:
        """The driving source's word; one that just took over begins first."""
        if self._begun_epoch != self.state.epoch:
            self._begun_epoch = self.state.epoch
            self._driver.begin(moment)
        return self._driver.ask(moment)

    def chunk(self, chunk: ActionChunk, moment: Moment) -> None:
        """An answer of the policy server."""
        if self._drives(self.policy) and self.policy is not None and self._begun_epoch == self.state.epoch:
            self.policy.take(chunk, moment)
        else:
            self.counts["refused_not_driving"] += 1

    def failure(self, failure: PlanFailure, now_ns: int) -> None:
        """A request without an answer."""
        if self._drives(self.policy) and self.policy is not None:
            self.policy.fail(failure, now_ns)

    def _drives(self, source: TargetSource | None) -> bool:
        return source is not None and self._driver is source

    def _act(self, act: str) -> None:
        before = self.state
        self.happens(_PERSON[act], f"{act} by a person")
        if _PERSON[act] not in TABLE[before.mode]:
            self.refuse(f"{act} changes nothing in {before.mode.value}")
        elif act == "engage" and self.policy is not None and self.state.mode is Mode.HANDOFF:
            self.policy.instruction = self.instruction
            self._driver = self.policy
        elif act == "replay" and self.episode is not None and self.state.mode is Mode.HANDOFF:
            self._driver = self.episode
        elif act in self._poses and self.state.mode is Mode.PARK:
            self._driver = self._poses[act]

    def _instruct(self, text: str) -> None:
        self.instruction = text
        if self.policy is not None:
            self.policy.instruction = text
        self.happens(Event.INSTRUCTION, "new instruction")

    def refuse(self, why: str) -> None:
        """Something asked for is not done; a person sees why."""
        self.counts["refused_by_mode"] += 1
        self.notice = why
