"""A leader as a source of targets: aligned, ramped, coupled; let go of by clutch, dead-man or silence."""

from __future__ import annotations

from enum import Enum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import ARMS, Arm
from contract.teleop import Teleop
from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.fade import Fade, gentle_duration_ns
from robot_client.modes import Event
from robot_client.safety.limiter import brake
from robot_client.safety.limits import Limits
from robot_client.sources.base import Asked, Moment
from robot_client.teleop.align import apart, mask_of, ramp_refusal
from robot_client.teleop.leader import Leader
from robot_client.teleop.sample import LeaderGoal, LeaderSample

_SIDES: Final[dict[str, tuple[Arm, ...]]] = {"": ARMS, "both": ARMS, "left": ("left",), "right": ("right",)}


_LOOKED_NS: Final = 30 * NS_PER_MS
"""A sample this much younger than the goal comes from a leader that has seen it: it reads a hundred times a second."""


class _Phase(Enum):
    ALIGN = "aligning"
    RAMP = "ramping"
    COUPLED = "coupled"
    OPEN = "clutch open"


class TeleopSource:
    """Drives `arms` by the leader's newest value; another arm is braked and stands.

    A leader with motors comes to the follower first; to a passive one the follower is ramped slowly, when it is near
    and its conventions fit, else the handoff is refused (`refusal`). The clutch opens and closes without leaving
    TELEOP: closed again, the difference is aligned anew. Stale, troubled or without its dead-man it asks for HOLD.
    """

    name = "teleop"

    def __init__(self, leader: Leader, rules: Teleop, limits: Limits) -> None:
        self._leader, self._rules, self._limits = leader, rules, limits
        self._phase = _Phase.ALIGN
        self._since_ns = 0
        self._ramp: Fade | None = None
        self._taken = self._person_opened = False
        self.arms: tuple[Arm, ...] = ARMS
        self.waiting = ""
        """What the operator must do before the arms follow."""

    def refusal(self, text: str, moment: Moment | None) -> str:
        """Why the arms cannot be handed to this leader now; empty = they can. `text`: both, left or right."""
        arms = _SIDES.get(text)
        if arms is None:
            return f"teleop refused: arms are {', '.join(_SIDES)[2:]}, not {text!r}"
        if moment is None:
            return "teleop refused: the arms have no torque"
        sample = self._leader.newest()
        if trouble := self._trouble(sample, moment.now_ns, arms):
            return f"teleop refused: {trouble}"
        if sample is not None and self._leader.align == "follower":
            why = ramp_refusal(sample.values, moment.told.position, arms, self._rules)
            return f"teleop refused: {why}" if why else ""
        return ""

    def choose(self, text: str) -> None:
        """Which arms the next `begin` takes, with the clutch closed unless the operator opens it from now on."""
        self.arms, self._person_opened = _SIDES[text], False

    def clutch(self, closed: bool) -> None:
        """The operator's clutch, as a key of the terminal; a leader's own button works beside it."""
        self._person_opened = not closed

    def begin(self, moment: Moment) -> None:
        self._align(moment)
        self._taken = False

    def continue_as(self, epoch: int) -> None:
        """The mode is TELEOP now; nothing changes for the hand."""

    def ask(self, moment: Moment) -> Asked:
        sample = self._leader.newest()
        if trouble := self._trouble(sample, moment.now_ns, self.arms):
            return Asked(None, event=Event.WATCHDOG, reason=trouble)
        if sample is None:
            return Asked(None)
        self._work_clutch(sample, moment)
        if self._phase is _Phase.ALIGN:
            why = self._aligned(sample, moment)
            if why:
                return Asked(None, event=Event.WATCHDOG, reason=why)
        if self._ramp is None:
            return Asked(None)
        return self._follow(sample, self._ramp, moment)

    def _follow(self, sample: LeaderSample, ramp: Fade, moment: Moment) -> Asked:
        other = moment.told.position if self.arms == ARMS else brake(moment.told, self._limits).told.position
        values = np.where(mask_of(self.arms), sample.values + ramp.at(moment.now_ns), other)
        if not ramp.over(moment.now_ns):
            return Asked(values)
        self._phase = _Phase.COUPLED
        if self._taken:
            return Asked(values)
        self._taken = True
        return Asked(values, event=Event.TAKEN_BY_TELEOP, reason=f"the ramp to leader {self._leader.name} is over")

    def _align(self, moment: Moment) -> None:
        self._phase, self._since_ns, self._ramp = _Phase.ALIGN, moment.now_ns, None

    def _work_clutch(self, sample: LeaderSample, moment: Moment) -> None:
        closed = sample.clutch and not self._person_opened
        if not closed:
            self._phase, self._ramp, self.waiting = _Phase.OPEN, None, "clutch open"
        elif self._phase is _Phase.OPEN:
            self._align(moment)

    def _aligned(self, sample: LeaderSample, moment: Moment) -> str:
        """Begins the ramp once leader and follower may come together; why they never will, when time is up."""
        if self._leader.align == "leader":
            self._leader.send(LeaderGoal(moment.told.position, free=False))
            self.waiting = self._still_apart(sample, moment)
        else:
            self.waiting = ramp_refusal(sample.values, moment.told.position, self.arms, self._rules)
        if not self.waiting:
            self._begin_ramp(sample.values, moment)
        elif moment.now_ns - self._since_ns > int(self._rules.align_s * NS_PER_S):
            return f"leader {self._leader.name} did not align within {self._rules.align_s:g} s: {self.waiting}"
        return ""

    def _still_apart(self, sample: LeaderSample, moment: Moment) -> str:
        if sample.stamp_ns - self._since_ns < _LOOKED_NS or any(arm not in sample.arms for arm in self.arms):
            return "the leader is nowhere yet"
        return apart(sample.values, moment.told.position, self.arms, self._rules, grippers=False)

    def _begin_ramp(self, leader: NDArray, moment: Moment) -> None:
        self._leader.send(LeaderGoal(moment.told.position, free=True))
        offset = np.where(mask_of(self.arms), moment.told.position - leader, 0.0)
        duration_ns = gentle_duration_ns(offset, self._limits, self._rules.ramp_share)
        self._ramp, self._phase = Fade(offset, moment.now_ns, duration_ns), _Phase.RAMP

    def _may_come(self, sample: LeaderSample) -> bool:
        """A leader without a body is nowhere before it was told where the follower is."""
        aligning = self._phase is _Phase.ALIGN or self._ramp is None
        return self._leader.align == "leader" and not sample.trouble and aligning

    def _trouble(self, sample: LeaderSample | None, now_ns: int, arms: tuple[Arm, ...]) -> str:
        if sample is None:
            return f"leader {self._leader.name} has said nothing yet"
        age_ns = now_ns - sample.stamp_ns
        if age_ns > int(self._rules.leader_ms * NS_PER_MS):
            why = f": {sample.trouble}" if sample.trouble else ""
            return f"leader {self._leader.name} is {age_ns / NS_PER_MS:.0f} ms old{why}"
        if (missing := [arm for arm in arms if arm not in sample.arms]) and not self._may_come(sample):
            why = f": {sample.trouble}" if sample.trouble else "; choose one arm"
            return f"leader {self._leader.name} has no {' and no '.join(missing)} arm{why}"
        if self._rules.dead_man and not sample.dead_man:
            return "the operator's dead-man is not pressed"
        return ""
