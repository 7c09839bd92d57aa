"""What the loop's own thread spends on reporting a tick, with a recorder and without."""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from contract.layout import SIZE
from robot_client.channel import Channel, channel_pair
from robot_client.pilot import Pilot
from robot_client.reporter import Reporter
from robot_client.ticks import TickRecord

_TICKS: Final = 2000
_ROUNDS: Final = 7


def reporting_us() -> dict[str, float]:
    """CPU time of a tick's report [us], median of rounds in turns: `alone`, `recorded`."""
    spent: dict[str, list[float]] = {"alone": [], "recorded": []}
    for _ in range(_ROUNDS):
        for name, times in spent.items():
            times.append(_round_us(recorded=name == "recorded"))
    return {name: round(float(np.median(times)), 2) for name, times in spent.items()}


def _round_us(recorded: bool) -> float:
    supervisor, ours = channel_pair()
    recorder, to_recorder = channel_pair()
    reporter = Reporter(ours, Pilot({}, parks_itself=True), {}, to_recorder if recorded else None)
    used_ns = 0
    for number in range(_TICKS):
        tick = _tick(number)
        begun_ns = time.thread_time_ns()
        reporter.record(tick)
        used_ns += time.thread_time_ns() - begun_ns
        _drain(supervisor, recorder)
    for channel in (supervisor, ours, recorder, to_recorder):
        channel.close()
    return used_ns / _TICKS / 1e3


def _drain(*channels: Channel) -> None:
    """As the readers would: a full channel is dropped faster than it is sent."""
    for channel in channels:
        while channel.receive() is not None:
            pass


def _tick(number: int) -> TickRecord:
    pose = np.full(SIZE, 0.1)
    return TickRecord(
        deadline_ns=number, stamp_ns=number, lateness_ns=0, skipped=0, mode="POLICY", source="policy", epoch=1,
        asked=pose, told=pose, measured=pose, measured_stamp_ns=number, row=0, fraction=0.0, chunk_id="bench/1/1",
        clips=np.zeros(SIZE, np.uint16),
    )  # fmt: skip
