"""Faults of whole processes, done by the supervisor that started them: kill -9, and frozen by SIGSTOP."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from robot_client.demo.children import Child
from robot_client.inject.effects import line_of
from robot_client.inject.fault import KILLS, Fault

TARGETS: Final = ("server", "planner")


class ProcessFaults:
    """`step` often. `say` prints a line for people."""

    def __init__(self, faults: Sequence[Fault], say: Callable[[str], None]) -> None:
        self._waiting = [fault for fault in faults if target_of(fault)]
        self._frozen: list[tuple[Fault, Child]] = []
        self._say = say
        self.killed: set[str] = set()
        """Processes that nobody may expect to run any more."""

    def step(self, elapsed_s: float, children: Mapping[str, Child | None]) -> None:
        """Do what is due `elapsed_s` after engagement to "server" and "planner"."""
        for fault in [fault for fault in self._waiting if fault.at_s <= elapsed_s]:
            self._waiting.remove(fault)
            child = children.get(target_of(fault))
            if child is not None and child.running:
                self._say(line_of(fault, elapsed_s))
                self._do(fault, child)
        for fault, child in [each for each in self._frozen if each[0].at_s + each[0].length_s <= elapsed_s]:
            self._frozen.remove((fault, child))
            self._send(child, signal.SIGCONT)

    def end(self) -> None:
        """Let frozen processes go on, so that they can end."""
        for _, child in self._frozen:
            self._send(child, signal.SIGCONT)
        self._frozen.clear()

    def _do(self, fault: Fault, child: Child) -> None:
        if fault.kind in KILLS:
            self.killed.add(target_of(fault))
            self._send(child, signal.SIGKILL)
        else:
            self._frozen.append((fault, child))
            self._send(child, signal.SIGSTOP)

    def _send(self, child: Child, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            child.process.send_signal(number)


def target_of(fault: Fault) -> str:
    """The process that a fault happens to; empty when it happens inside of one."""
    if fault.kind in KILLS:
        return fault.kind.removeprefix("kill-")
    return fault.target if fault.kind == "freeze" and fault.target in TARGETS else ""
