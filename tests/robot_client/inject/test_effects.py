"""A person is told of every injected fault once, when it takes effect, wherever it acts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from contract.types import Observation
from robot_client.clock import NS_PER_MS, NS_PER_S, FakeClock
from robot_client.inject.effects import Effects, EffectsSeen
from robot_client.inject.grammar import parse
from robot_client.inject.link import InjectedLink
from robot_client.inject.rig import InjectedRig
from robot_client.inject.since import EngagedMark, Since
from robot_client.link.asked import Answer
from robot_client.link.connection import LinkState
from robot_client.rigs.ideal import IdealRig
from tests.robot_client.inject.test_mangle import answer
from tests.robot_client.stage import HOME, STATION, info

TEXT = "nan=joints@1s,freeze=joints@2s,freeze=camera:top@1s,cut@4s+1s,nan@1s,drop=1@3s,kill-server@1s"
FAULTS = parse(TEXT)


class Answering:
    """A link that always has an answer."""

    state: LinkState = "READY"
    refusal = None

    def __init__(self) -> None:
        self.info = info()

    def open(self) -> None:
        """It is."""

    def submit(self, observation: Observation, budget_ms: float | None = None) -> int:
        return 0

    def poll(self, timeout_s: float = 0.0, wake_on: Sequence[int] = ()) -> list[Answer]:
        return [answer(0)]

    def close(self) -> None:
        """Nothing is held."""


class Run:
    """A loop's rig, a planner's rig and link, and the supervisor, on one clock; everything is looked at every 0.1 s."""

    def __init__(self, folder: Path) -> None:
        self.clock = clock = FakeClock(NS_PER_S)
        self.mark, self.seen, self.engaged_ns = EngagedMark(folder), EffectsSeen(folder, FAULTS), 0
        self.rigs = [
            InjectedRig(
                IdealRig(clock, HOME, STATION.cameras), FAULTS, Since(folder), clock, Effects(folder, part, FAULTS)
            )
            for part in ("loop", "planner")
        ]
        self.link = InjectedLink(Answering(), FAULTS, Since(folder), clock, 0, Effects(folder, "link", FAULTS))
        for part in (*self.rigs, self.link):
            part.open()

    def engage(self) -> None:
        self.engaged_ns = self.clock.now_ns()
        self.mark.put(self.engaged_ns)

    def run(self, seconds: float) -> list[str]:
        said = []
        for _ in range(round(seconds * 10)):
            self.rigs[0].joints()
            self.rigs[1].frames()
            self.link.poll()
            self.clock.advance(100 * NS_PER_MS)
            if self.engaged_ns:
                said += self.seen.news(self.engaged_ns)
        return said


def test_a_person_sees_a_line_for_each_fault_when_it_takes_effect_and_at_every_engagement(tmp_path: Path) -> None:
    """Faults of cameras, joints, answers and the link began without a word; only kill and freeze of whole processes
    were said, so that nobody could tell a rehearsed fault from a real one."""
    run = Run(tmp_path)
    assert run.run(3.0) == [], "nothing is engaged yet"
    expected = [
        "injected: nan=joints@1s, 1.00 s after engagement",
        "injected: freeze=camera:top@1s, 1.00 s after engagement",
        "injected: nan@1s, 1.00 s after engagement",
        "injected: freeze=joints@2s, 2.00 s after engagement",
        "injected: drop=1@3s, 3.00 s after engagement",
        "injected: cut@4s+1s, 4.00 s after engagement",
    ]
    for _ in range(2):
        run.engage()
        assert run.run(6.0) == expected


def test_a_fault_that_finds_nothing_to_act_on_is_not_said_to_have_happened(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.link.poll = lambda: []  # type: ignore[assignment,method-assign]
    run.engage()
    said = run.run(6.0)
    assert [each.split(",")[0] for each in said] == [
        "injected: nan=joints@1s", "injected: freeze=camera:top@1s", "injected: freeze=joints@2s",
    ]  # fmt: skip
