"""A whole robot side in one thread on a fake clock: loop, planner, ideal rig, real channels, scripted link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contract.server_info import CameraSpec, ServerInfo
from contract.station import Station, load_station
from contract.types import Observation
from robot_client import local_codec
from robot_client.channel import channel_pair
from robot_client.clock import NS_PER_MS, NS_PER_S, FakeClock
from robot_client.local_messages import LoopStatus, PersonEvent, PlanFailure, ReplanRecord
from robot_client.loop_process import LoopProcess
from robot_client.pacer import Pacer
from robot_client.planner.planner import Planner
from robot_client.process_config import LoopConfig
from robot_client.rigs.ideal import IdealRig
from robot_client.scripted_link import Reply, Script, ScriptedLink, scripted_info
from robot_client.ticks import TickRecord

START_NS = 5 * NS_PER_S
STATION = load_station("twin")
HOME = STATION.poses.home.vector()
PERIOD_NS = int(NS_PER_S / STATION.timing.loop_hz)


def station(**timing: float) -> Station:
    """The twin's station with other timing."""
    return STATION.model_copy(update={"timing": STATION.timing.model_copy(update=timing)})


def info(**changes: Any) -> ServerInfo:
    """A scripted policy that wants the twin's cameras at half size."""
    specs = [CameraSpec(role=c.role, height=c.height // 2, width=c.width // 2) for c in STATION.cameras]
    return scripted_info(specs, **changes)


def line(base: NDArray, slope: float, first_row: int, count: int) -> NDArray:
    """Rows (count, 14): every joint of `base` moved by slope times the row's number."""
    return base + slope * np.arange(first_row, first_row + count)[:, np.newaxis]


def steady(rows: Callable[[Observation], NDArray], latency_ns: int = 100 * NS_PER_MS) -> Script:
    """A script that always answers after the same time."""
    return lambda observation, number: Reply(latency_ns, rows(observation))


class Stage:
    """`ticks` has every tick, `statuses`, `records` and `failures` what a supervisor would get."""

    def __init__(
        self,
        script: Script,
        server: ServerInfo | None = None,
        at: Station = STATION,
        rig: IdealRig | None = None,
        clock: FakeClock | None = None,
        engage: bool = True,
    ) -> None:
        self.clock = clock or FakeClock(START_NS)
        self.rig = rig or IdealRig(self.clock, HOME, at.cameras, delay_ns=20 * NS_PER_MS)
        self.link = ScriptedLink(self.clock, server or info(), script)
        self.to_loop, from_supervisor = channel_pair()
        self.from_planner, planner_out = channel_pair()
        self.loop_side, self.planner_side = channel_pair()
        config = LoopConfig(rig="ideal", realtime=False, first_chunk_s=5.0)
        self.process = LoopProcess(config, at, self.rig, self.clock, from_supervisor, self.loop_side)
        self.said: list[str] = []
        self.ended = False
        self.planner = Planner(
            self.clock, self.rig, at, self.link, "s", {}, self.planner_side, planner_out, self.said.append
        )
        self.ticks: list[TickRecord] = []
        self.statuses: list[LoopStatus] = []
        self.records: list[ReplanRecord] = []
        self.failures: list[PlanFailure] = []
        self._keep = self.process.reporter.record
        self.process.loop._record = self._record
        self.pacer = Pacer(self.clock, PERIOD_NS)
        self.link.open()
        self.pacer.start()
        self.run(0.1)
        if engage:
            self.person("instruction", "go")
            self.person("engage")

    def person(self, act: str, text: str = "") -> None:
        """Something a person does; seen by the next tick."""
        assert local_codec.send(self.to_loop, PersonEvent(act, text))  # type: ignore[arg-type]

    def run(self, seconds: float) -> list[TickRecord]:
        """That many seconds of ticks; returns them."""
        before = len(self.ticks)
        for _ in range(round(seconds * NS_PER_S / PERIOD_NS)):
            self.tick()
        return self.ticks[before:]

    def run_until(self, condition: Callable[[], bool], seconds: float) -> list[TickRecord]:
        """Ticks until `condition`, which must come true in time; returns them."""
        before = len(self.ticks)
        for _ in range(round(seconds * NS_PER_S / PERIOD_NS)):
            if condition():
                return self.ticks[before:]
            self.tick()
        raise AssertionError(f"not within {seconds} s; mode {self.mode}, {self.reason}")

    def tick(self) -> None:
        """One period of the loop, then the planner's turn."""
        self.process.loop.tick(self.pacer.wait())
        self.process.reporter.status_if_due(self.process.loop, self.clock.now_ns())
        self.ended = self.process.ending.done(self.clock.now_ns(), self.process.loop.resting)
        self.planner.step(0.0)
        for channel in (self.to_loop, self.from_planner):
            while (message := local_codec.receive(channel)) is not None:
                self._sort(message)

    @property
    def mode(self) -> str:
        """The mode now."""
        return self.process.pilot.state.mode.value

    @property
    def reason(self) -> str:
        """Why."""
        return self.process.pilot.state.reason

    @property
    def counters(self) -> dict[str, int]:
        """All counters of the newest status."""
        self.process.reporter.status(self.process.loop, self.clock.now_ns(), finished=False)
        while (message := local_codec.receive(self.to_loop)) is not None:
            self._sort(message)
        return dict(self.statuses[-1].counters)

    def told(self) -> NDArray:
        """(N, 14) of all ticks; NaN before torque."""
        return told_of(self.ticks)

    def _record(self, record: TickRecord) -> None:
        self.ticks.append(record)
        self._keep(record)

    def _sort(self, message: object) -> None:
        for kind, where in ((LoopStatus, self.statuses), (ReplanRecord, self.records), (PlanFailure, self.failures)):
            if isinstance(message, kind):
                where.append(message)  # type: ignore[attr-defined]


def told_of(ticks: list[TickRecord]) -> NDArray:
    """(N, 14), NaN where nothing was commanded."""
    return np.array([np.full(14, np.nan) if tick.told is None else tick.told for tick in ticks])


def travel(ticks: list[TickRecord]) -> float:
    """Largest distance any channel was told to go, added up [rad]."""
    return float(np.nansum(np.abs(np.diff(told_of(ticks), axis=0)), axis=0).max())


def rows_run(ticks: list[TickRecord]) -> list[int]:
    """Numbers of the rows in execution, in the order they came."""
    rows: list[int] = []
    for tick in ticks:
        if tick.row >= 0 and (not rows or rows[-1] != tick.row):
            rows.append(tick.row)
    return rows
