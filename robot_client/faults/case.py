"""The faults: what is done, how it is undone, and what of it is real."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from robot_client.demo.children import Child
from robot_client.faults.stage import Stage

Place = Literal["server", "client", "link"]
AT_S: Final = 0.6
"""After engagement, for faults that are injected inside of a process."""
_LONG: Final = f"@{AT_S}s+20s"
_CRAWL_NS: Final = 120_000_000


def _nothing(stage: Stage) -> None:
    """What is injected needs no doing."""


@dataclass(frozen=True, slots=True)
class Case:
    """One fault at one place. `inject` is a fault of the robot's own processes (`robot_client.inject.grammar`)."""

    fault: str
    place: Place
    real: str
    """What really happens, for the results."""
    do: Callable[[Stage], None] = _nothing
    undo: Callable[[Stage], None] = _nothing
    before: Callable[[Stage], None] = _nothing
    """Done at the beginning of a round, while nothing is measured yet."""
    inject: str = ""
    turn: Callable[[Stage], None] = _nothing
    """Done every few milliseconds while the fault lasts."""
    stops: bool = True
    """Whether the arms must hold. Else the policy may drive on, as long as no wrong row runs."""

    @property
    def name(self) -> str:
        """For tables."""
        return f"{self.fault} {self.place}"


def _send(child: Child, number: signal.Signals) -> None:
    if child.running:
        child.process.send_signal(number)


def _mode(mode: str) -> Callable[[Stage], None]:
    return lambda stage: stage.tell_server(mode)


def _signal(which: str, number: signal.Signals) -> Callable[[Stage], None]:
    return lambda stage: _send(stage.server if which == "server" else stage.robot.planner, number)


def _freeze_link(stage: Stage) -> None:
    stage.proxy.weather.frozen = True


def _slow_link(stage: Stage) -> None:
    stage.proxy.weather.delay_s = 0.7


def _planner_crawls(stage: Stage) -> None:
    """Runs for a sixth of the time; to be called every few milliseconds."""
    runs = stage.now_ns() % _CRAWL_NS < _CRAWL_NS // 6
    _send(stage.robot.planner, signal.SIGCONT if runs else signal.SIGSTOP)


_SCRIPT: Final = "a scripted server process on TCP that answers so"
_INSIDE: Final = "made inside the real planner process, between its link and its planning; sockets are sound"
CASES: Final[tuple[Case, ...]] = (
    Case("kill", "server", "kill -9 of the server process", _signal("server", signal.SIGKILL), Stage.next_server,
         Stage.spare_server),
    Case("freeze", "server", "SIGSTOP of the server process", _signal("server", signal.SIGSTOP),
         _signal("server", signal.SIGCONT)),
    Case("slow", "server", f"{_SCRIPT}: after 700 ms instead of 8", _mode("slow"), _mode("sound")),
    Case("nan", "server", f"{_SCRIPT}: NaN in a row of every chunk", _mode("nan"), _mode("sound")),
    Case("stale", "server", f"{_SCRIPT}: with the chunk before", _mode("stale"), _mode("sound")),
    Case("swap", "server", f"{_SCRIPT}: another policy behind the same address", _mode("another"), _mode("sound")),
    Case("reorder", "server", f"{_SCRIPT}: each answer only after the next one", _mode("reorder"), _mode("sound"),
         stops=False),
    Case("kill", "client", "kill -9 of the planner process", _signal("planner", signal.SIGKILL), Stage.next_robot,
         Stage.spare_robot),
    Case("freeze", "client", "SIGSTOP of the planner process", _signal("planner", signal.SIGSTOP),
         _signal("planner", signal.SIGCONT)),
    Case("slow", "client", "the planner process stopped for 100 of every 120 ms", turn=_planner_crawls,
         undo=_signal("planner", signal.SIGCONT), stops=False),
    Case("nan", "client", "NaN among the measured joints, in the real loop process", inject=f"nan=joints@{AT_S}s"),
    Case("stale", "client", "a camera whose newest image stays the same, in the real planner process",
         inject=f"freeze=camera:top{_LONG}"),
    Case("freeze", "link", "a TCP proxy that passes nothing on and keeps its connections", _freeze_link, Stage.mend),
    Case("cut", "link", "a TCP proxy that ends connections and leads new ones nowhere", Stage.cut, Stage.mend),
    Case("slow", "link", "a TCP proxy that delays every byte by 700 ms each way", _slow_link, Stage.mend),
    Case("stale", "link", f"{_INSIDE}: every answer is the one before", inject=f"stale{_LONG}"),
    Case("swap", "link", f"{_SCRIPT}: rows of the chunk before under the right address", _mode("swap"),
         _mode("sound")),
    Case("reorder", "link", f"{_INSIDE}: each answer after the next one", inject=f"reorder{_LONG}"),
)  # fmt: skip
