"""Robots without arms: threads that ask a server at a steady rate, and one that floods it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace

from contract.errors import StackError
from contract.types import ActionChunk, Observation
from policy_server.server.visitor import Visitor, visit

_ANSWER_S = 10.0


@dataclass
class Robot:
    """One client in a thread of its own. `latencies_ns` of its chunks, in order; `other` counts every other answer."""

    name: str
    address: str
    asked: Observation
    period_s: float
    flood: bool = False
    """Ask without waiting for answers."""
    latencies_ns: list[int] = field(default_factory=list)
    other: Counter[str] = field(default_factory=Counter)
    sent: int = 0
    failure: StackError | None = None

    def start(self, stop: threading.Event) -> threading.Thread:
        """Begin to ask, until `stop`."""
        thread = threading.Thread(target=self._main, args=(stop,), name=self.name, daemon=True)
        thread.start()
        return thread

    def _main(self, stop: threading.Event) -> None:
        try:
            with visit(self.address, _ANSWER_S, session=self.name) as guest:
                while not stop.wait(self.period_s):
                    self._ask(guest)
        except StackError as error:
            self.failure = error

    def _ask(self, guest: Visitor) -> None:
        self.sent += 1
        observation = replace(self.asked, session=self.name, sequence=self.sent, seed=self.sent)
        if self.flood:
            guest.tell(observation)
            return
        start_ns = time.monotonic_ns()
        answer = guest.ask(observation, _ANSWER_S)
        if isinstance(answer, ActionChunk):
            self.latencies_ns.append(time.monotonic_ns() - start_ns)
        else:
            self.other[type(answer).__name__] += 1
