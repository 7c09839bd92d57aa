"""A link whose answers are lost, late, wrong or out of order as asked; the link inside is the real one."""

from __future__ import annotations

from collections.abc import Sequence

from contract.errors import LinkError, StackError
from contract.server_info import ServerInfo
from contract.types import Observation
from robot_client.clock import NS_PER_S, Clock
from robot_client.inject.effects import Effects
from robot_client.inject.fault import Fault
from robot_client.inject.mangle import Mangler
from robot_client.inject.since import Since
from robot_client.link.asked import Answer
from robot_client.link.connection import LinkState
from robot_client.planner.policy_link import PlannerLink


class InjectedLink:
    """What the planner needs of a link."""

    def __init__(
        self, link: PlannerLink, faults: Sequence[Fault], since: Since, clock: Clock, seed: int, effects: Effects
    ) -> None:
        self._link, self._since, self._clock, self._effects = link, since, clock, effects
        self._cuts = [fault for fault in faults if fault.kind == "cut"]
        self.mangler = Mangler(faults, seed, self._happens)

    @property
    def state(self) -> LinkState:
        return "CONNECTING" if self._is_cut() else self._link.state

    @property
    def info(self) -> ServerInfo:
        return self._link.info

    @property
    def refusal(self) -> StackError | None:
        return self._link.refusal

    def open(self) -> None:
        self._effects.open()
        self._link.open()

    def submit(self, observation: Observation, budget_ms: float | None = None) -> int:
        if self._is_cut():
            raise self._no_connection()
        return self._link.submit(observation, budget_ms)

    def poll(self, timeout_s: float = 0.0, wake_on: Sequence[int] = ()) -> list[Answer]:
        """Answers that are due. Those that come while the link is cut are lost, as the real link says it."""
        due_ns = self.mangler.next_due_ns()
        if due_ns is not None:
            timeout_s = max(0.0, min(timeout_s, (due_ns - self._clock.now_ns()) / NS_PER_S))
        for answer in self._link.poll(timeout_s, wake_on):
            if self._is_cut():
                answer = Answer(answer.asked, self._no_connection(), answer.answered_ns)
            now_ns = self._clock.now_ns()
            self.mangler.take(answer, self._link.info, self._since.elapsed_s(now_ns), self._since.engagement())
        return self.mangler.due(self._clock.now_ns())

    def close(self) -> None:
        self._link.close()
        self._effects.close()
        self._since.close()

    def _is_cut(self) -> bool:
        elapsed_s = self._since.elapsed_s(self._clock.now_ns()) if self._cuts else None
        there = [fault for fault in self._cuts if fault.lasts(elapsed_s)]
        for fault in there:
            self._happens(fault)
        return bool(there)

    def _happens(self, fault: Fault) -> None:
        self._effects.happens(fault, self._since.engagement(), self._clock.now_ns())

    def _no_connection(self) -> LinkError:
        return LinkError("policy server", expected="READY", got="the connection was lost (injected)", remedy="wait")
