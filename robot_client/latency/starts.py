"""Engages the policy again and again, so that arms start from rest more than once in a run. Pure: time comes in."""

from __future__ import annotations

from typing import Final

from robot_client.clock import NS_PER_S
from robot_client.local_messages import LoopStatus, PersonAct

_REST_NS: Final = NS_PER_S // 2
_AGAIN_NS: Final = 2 * NS_PER_S
_HELD: Final = "hold by a person"


class Starts:
    """Says what a person would do next: engage, hold after `run_s`, release once at rest, engage again.

    With `attended` a stop that it did not ask for is the last one: on real arms only a person goes on after it.
    """

    def __init__(self, run_s: float, attended: bool = False) -> None:
        self._run_ns, self._attended = int(run_s * NS_PER_S), attended
        self._mode, self._held = "", False
        self._since_ns = self._asked_ns = -_AGAIN_NS
        self.count = 0
        """Engagements so far."""
        self.stops: list[str] = []
        """Why the loop stopped, where this did not ask for it."""

    def next_act(self, status: LoopStatus, now_ns: int) -> PersonAct | None:
        """What to do now; None while nothing is due. What had no effect is asked again after two seconds."""
        if status.mode != self._mode:
            if status.mode in ("HOLD", "FAULT", "FALLING") and not (self._held and status.reason == _HELD):
                self.stops.append(f"{status.mode}: {status.reason}")
            self._mode, self._since_ns, self._asked_ns = status.mode, now_ns, -_AGAIN_NS
        act = None if self._attended and self.stops else self._wanted(status, now_ns)
        if act is None or now_ns - self._asked_ns < _AGAIN_NS:
            return None
        self._asked_ns = now_ns
        self._held = act == "hold"
        self.count += act == "engage"
        return act

    def _wanted(self, status: LoopStatus, now_ns: int) -> PersonAct | None:
        if status.mode == "IDLE":
            return "engage"
        if status.mode == "POLICY":
            return "hold" if now_ns - self._since_ns >= self._run_ns else None
        if status.mode == "HOLD":
            if not status.at_rest:
                self._since_ns = now_ns
            return "release" if now_ns - self._since_ns >= _REST_NS else None
        return None
