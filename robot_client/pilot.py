"""Who drives: the mode, the source that belongs to it, and what each event does to both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from contract.layout import ARMS, Arm
from contract.types import ActionChunk
from robot_client.intervention import Intervention
from robot_client.local_messages import PersonEvent, PlanFailure
from robot_client.modes import MOVING, TABLE, Event, Mode, ModeState
from robot_client.safety.limits import Limits
from robot_client.sources.base import Asked, Continues, Moment, Refuses, TargetSource
from robot_client.sources.hold import HoldSource
from robot_client.sources.policy import PolicySource
from robot_client.sources.shared import SharedSource
from robot_client.teleop.source import TeleopSource

PERSON_EVENTS: Final[Mapping[str, Event]] = {
    "enable": Event.ENABLE,
    "relax": Event.RELAX,
    "power_off": Event.POWER_OFF,
    "engage": Event.ENGAGE,
    "replay": Event.ENGAGE,
    "teleop": Event.ENGAGE,
    "external": Event.ENGAGE,
    "hold": Event.HOLD,
    "stop": Event.HOLD,
    "release": Event.RELEASE,
    "home": Event.PARK,
    "park": Event.PARK,
}
"""A person's act -> what it is to the mode; other acts change nothing by themselves."""
_MISSING: Final[Mapping[str, str]] = {
    "engage": "no policy server has answered yet",
    "replay": "no episode was given",
    "teleop": "no leader was given",
    "external": "nothing offers an external trajectory",
}
_TAKEN_MODES: Final = frozenset({Mode.POLICY, Mode.TELEOP, Mode.REPLAY, Mode.EXTERNAL})


class Pilot:
    """One source drives at a time. `poses` are the sources of "home" and "park".

    `episode`, `teleop` and `external` are what a person's "replay", "teleop" and "external" hand the arms to; None =
    there is none. A source that is one of `sources.base.Refuses` may refuse, and then everything stays as it was.
    """

    def __init__(self, poses: Mapping[str, TargetSource], parks_itself: bool, limits: Limits | None = None) -> None:
        self._poses, self._parks_itself, self._limits = poses, parks_itself, limits
        self._hold = HoldSource()
        self._driver: TargetSource = self._hold
        self._begun_epoch = 0
        self._intervention = Intervention()
        self.policy: PolicySource | None = None
        self.episode: TargetSource | None = None
        self.teleop: TeleopSource | None = None
        self.external: TargetSource | None = None
        self.state = ModeState()
        self.instruction = ""
        self.notice = ""
        """Why the last thing a person asked for was not done."""
        self.counts: Counter[str] = Counter()

    @property
    def driver(self) -> str:
        """Name of the source that drives; `robot_client.control_source.per_arm` takes it apart."""
        return self._driver.name

    @property
    def intervention(self) -> tuple[Arm, ...]:
        """Arms that a person moves in place of the policy."""
        by_hand = self._driver is self.teleop or isinstance(self._driver, SharedSource)
        return self._intervention.arms(self.teleop.arms if by_hand and self.teleop is not None else ())

    def adopt(self, policy: PolicySource) -> None:
        """A policy can be engaged from now on. If another one drives, the arms hold first."""
        if self._planning:
            self.happens(Event.WATCHDOG, "the policy server changed")
        self.policy = policy

    def person(self, event: PersonEvent, moment: Moment | None = None) -> None:
        """What a person did. What cannot be done now is counted and changes nothing."""
        if event.act == "instruction":
            self._instruct(event.text)
        elif event.act == "finish":
            self.happens(Event.INTERRUPT, "end of the run")
        elif event.act == "clutch":
            self._clutch(event.text)
        elif event.act != "alive":
            self._act(event, moment)

    def happens(self, event: Event, reason: str) -> None:
        """An event of any kind; a change of mode changes the source with it."""
        before = self.state
        self.state = before.after(event, reason, self._parks_itself)
        if self.state.mode is not before.mode:
            self.counts[f"event_{event.value}"] += 1
        if self.state is before:
            return
        self._intervention.mode(self.state.mode)
        if self.state.mode in _TAKEN_MODES and before.mode is Mode.HANDOFF:
            self._go_on()
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
        planning = self.planning
        if planning is not None:
            planning.take(chunk, moment)
        else:
            self.counts["refused_not_driving"] += 1

    def failure(self, failure: PlanFailure, now_ns: int) -> None:
        """A request without an answer."""
        if self._planning is not None:
            self._planning.fail(failure, now_ns)

    @property
    def planning(self) -> PolicySource | None:
        """The policy while it drives an arm; not before it has begun, when its last plan is an old one."""
        return self._planning if self._begun_epoch == self.state.epoch else None

    @property
    def _planning(self) -> PolicySource | None:
        driver = self._driver
        policy = driver.policy if isinstance(driver, SharedSource) else driver
        return policy if isinstance(policy, PolicySource) else None

    def _act(self, event: PersonEvent, moment: Moment | None) -> None:
        act, before = event.act, self.state
        source = self._source_of(event)
        if act in _MISSING and source is None:
            self.refuse(f"{act} refused: {_MISSING[act]}")
        elif PERSON_EVENTS[act] not in TABLE[before.mode]:
            self.refuse(f"{act} changes nothing in {before.mode.value}")
        elif isinstance(source, Refuses) and (why := source.refusal(event.text, moment)):
            self.refuse(why)
        else:
            self.notice = ""
            driver = self._chosen(source, event)
            self.happens(PERSON_EVENTS[act], f"{act} by a person")
            if driver is not None and self.state.mode in (Mode.HANDOFF, Mode.PARK):
                self._driver = driver

    def _source_of(self, event: PersonEvent) -> TargetSource | None:
        offers: dict[str, TargetSource | None] = {
            "engage": self.policy,
            "replay": self.episode,
            "teleop": self.teleop,
            "external": self.external,
        }
        return offers.get(event.act, self._poses.get(event.act))

    def _chosen(self, source: TargetSource | None, event: PersonEvent) -> TargetSource | None:
        """What drives after the handoff: with one arm taken out of the policy's hands, both sources."""
        if source is self.policy and self.policy is not None:
            self.policy.instruction = self.instruction
        if not isinstance(source, TeleopSource):
            return source
        running, before = self._planning, source.arms
        source.choose(event.text)
        again = isinstance(self._driver, SharedSource) and before == source.arms
        shared = source.arms != ARMS and (self.state.mode is Mode.POLICY or again)
        if shared and running is not None and self._limits is not None:
            return SharedSource(source, running, self._limits)
        return source

    def _clutch(self, text: str) -> None:
        if self.teleop is None or text not in ("open", "close"):
            self.refuse(f"clutch refused: {'open or close' if self.teleop else _MISSING['teleop']}")
        else:
            self.teleop.clutch(closed=text == "close")

    def _instruct(self, text: str) -> None:
        self.instruction = text
        if self.policy is not None:
            self.policy.instruction = text
        begun = self._begun_epoch == self.state.epoch
        self.happens(Event.INSTRUCTION, "new instruction")
        if begun and self._planning is None:
            self._go_on()  # it is the policy's next task, and nothing to whatever else drives

    def _go_on(self) -> None:
        """The epoch has risen, but the driving source stays in the middle of what it does."""
        if isinstance(self._driver, Continues):
            self._driver.continue_as(self.state.epoch)
        self._begun_epoch = self.state.epoch

    def refuse(self, why: str) -> None:
        """Something asked for is not done; a person sees why."""
        self.counts["refused_by_mode"] += 1
        self.notice = why
