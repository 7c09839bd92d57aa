"""One window of our loop as a process of its own: scripted chunks, every tick reported, late ticks noted."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import RigError
from contract.layout import JOINT_MASK
from contract.station import load_station
from contract.types import ActionChunk, GuidanceScales, TemporalRatio
from robot_client import local_codec
from robot_client.bench.stand import Stand
from robot_client.bench.watched_loop import NOTES
from robot_client.channel import Channel, channel_pair
from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.local_messages import LoopStatus, PersonEvent, PlanRequest, PolicyReady, TickBatch
from robot_client.process_config import LoopConfig, write_config

STEP_NS: Final = 100 * NS_PER_MS
HORIZON: Final = 16
ANSWER_NS: Final = 60 * NS_PER_MS
_SETTLE_S: Final = 60.0
_SWING_RAD: Final = 0.05
_ALIVE_S: Final = 0.2
"""Between two signs of life: the example station holds the arms two seconds after the last."""


@dataclass(slots=True)
class LoopWindow:
    """What one window showed."""

    rights: dict[str, str] = field(default_factory=dict)
    lateness_ns: list[NDArray[np.int64]] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
    travel_rad: float = 0.0
    late: list[dict[str, Any]] = field(default_factory=list)
    """`watched_clock.LateTick` of the process's whole life; `in_window` says which belong to the ticks counted."""
    begun_ns: int = 0
    """Deadline of the first tick that counts."""


class ScriptedPlanner:
    """Answers plan requests after 60 ms with a slow wave, from the supervisor's own process: no images, no server."""

    def __init__(self, channel: Channel, station: str) -> None:
        self._channel = channel
        self._home = load_station(station).poses.home.vector()
        self._due: list[tuple[int, ActionChunk]] = []
        ready = PolicyReady("bench", "scripted", "scripted", False, STEP_NS, HORIZON, 8, ANSWER_NS)
        local_codec.send(channel, ready)

    def step(self, now_ns: int) -> None:
        """Take questions, give the answers that are due."""
        while (message := local_codec.receive(self._channel)) is not None:
            if isinstance(message, PlanRequest):
                self._due.append((now_ns + ANSWER_NS, self._chunk(message)))
        while self._due and self._due[0][0] <= now_ns:
            local_codec.send(self._channel, self._due.pop(0)[1])

    def _chunk(self, asked: PlanRequest) -> ActionChunk:
        numbers = np.arange(asked.first_row, asked.first_row + HORIZON - len(asked.prefix))[:, np.newaxis]
        rows = self._home + _SWING_RAD * np.sin(numbers / 10.0) * JOINT_MASK
        reading = TemporalRatio(0.0, 0.0, float("nan"), np.zeros((0, 0, 0, 0, 2), np.float32))
        return ActionChunk(
            "bench", asked.epoch, asked.sequence, asked.asked_ns, asked.first_row, rows.astype(np.float32),
            reading, GuidanceScales(0.0, 0.0), ("full",), (), {}, "scripted",
        )  # fmt: skip


def loop_window(
    folder: Path, ticks: int, stand: Stand, recorder: Channel | None = None, tend: Callable[[], object] = lambda: None
) -> LoopWindow:
    """Run the real loop process for `ticks` ticks in POLICY. Raises `RigError` when it does not get there.

    `recorder`: the loop's end of a recorder's channel, given away. `tend` is called about 100 times a second.
    """
    config = LoopConfig(station=stand.station, rig=stand.rig, run_dir=stand.run_dir)
    write_config(folder / "loop.json", config)
    supervisor, their_supervisor = channel_pair()
    planner, their_planner = channel_pair()
    fds: tuple[int, ...] = their_supervisor.fileno(), their_planner.fileno()
    options = ["--config", str(folder / "loop.json"), "--supervisor-fd", str(fds[0]), "--planner-fd", str(fds[1])]
    if recorder is not None:
        fds = (*fds, recorder.fileno())
        options += ["--recorder-fd", str(fds[-1])]
    notes = folder / "late.json"
    process = subprocess.Popen(
        [sys.executable, "-m", "robot_client.bench.watched_loop", *options],
        pass_fds=fds,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, NOTES: str(notes)},
    )
    for given in (their_supervisor, their_planner, *([recorder] if recorder is not None else [])):
        given.close()
    scripted = ScriptedPlanner(planner, stand.station)

    def step() -> None:
        scripted.step(time.monotonic_ns())
        tend()

    try:
        window = _watch(supervisor, step, planner, ticks, stand.period_ns)
    finally:
        supervisor.close()
        planner.close()
        _end(process)
    window.late = _late(notes, window.begun_ns, window.begun_ns + ticks * stand.period_ns)
    return window


def _late(notes: Path, from_ns: int, to_ns: int) -> list[dict[str, Any]]:
    """The notes of the ticks that count, with their time in the window."""
    late = json.loads(notes.read_text(encoding="utf-8")) if notes.is_file() else []
    return [{"at_s": (n["at_ns"] - from_ns) / NS_PER_S, **n} for n in late if from_ns <= n["at_ns"] <= to_ns]


def _watch(
    supervisor: Channel, step: Callable[[], None], planner_end: Channel, ticks: int, period_ns: int
) -> LoopWindow:
    window, counted, said = LoopWindow(), 0, "nothing"
    until_s = time.monotonic() + _SETTLE_S + 2 * ticks * period_ns / NS_PER_S
    alive_s = 0.0
    while counted < ticks:
        if time.monotonic() >= alive_s:
            alive_s = time.monotonic() + _ALIVE_S
            local_codec.send(supervisor, PersonEvent("alive"))
        select.select([supervisor, planner_end], (), (), 0.01)
        step()
        while (message := local_codec.receive(supervisor)) is not None:
            if isinstance(message, LoopStatus):
                window.rights, window.counters = dict(message.notes), dict(message.counters)
                said = f"{message.mode}: {message.reason}"
                if message.mode in ("IDLE", "HOLD"):  # also when a busy machine made the arms hold
                    local_codec.send(supervisor, PersonEvent("engage"))
            elif isinstance(message, TickBatch) and set(message.modes) == {"POLICY"}:
                counted += _count(window, message, period_ns)
        if supervisor.closed or time.monotonic() > until_s:
            raise RigError("loop window", expected=f"{ticks} ticks in POLICY", got=f"{counted}, {said}")
    return window


def _count(window: LoopWindow, batch: TickBatch, period_ns: int) -> int:
    """Whole missed periods are part of the lateness, as in the bare loop."""
    window.begun_ns = window.begun_ns or int(batch.deadline_ns[0])
    window.lateness_ns.append(batch.lateness_ns + batch.skipped.astype(np.int64) * period_ns)
    window.travel_rad += float(np.abs(np.diff(batch.told, axis=0)).sum(axis=0).max())
    return len(batch.lateness_ns)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(8.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(2.0)
