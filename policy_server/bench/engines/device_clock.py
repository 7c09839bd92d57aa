"""Time of work on a device: events on a card, the monotonic clock on a CPU."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

LEAST_ROUNDS = 3
"""Measured calls of even the slowest work."""


def time_calls(
    call: Callable[[], object], device: torch.device, rounds: int, warm_up: int, most_s: float = float("inf")
) -> list[float]:
    """Milliseconds of each of `rounds` calls after `warm_up` that are not counted (B16).

    Fewer, but `LEAST_ROUNDS`, where so many would take longer than `most_s` at the speed of the last warm-up call. On
    a card each call is timed by two events on its stream and the device is waited for before the times are read, so
    work that goes on after the call has returned counts too.
    """
    spent_ms = [_wall_ms(call, device) for _ in range(warm_up)]
    if spent_ms and spent_ms[-1] > 0.0:
        rounds = min(rounds, max(LEAST_ROUNDS, int(1e3 * most_s / spent_ms[-1]) if most_s < float("inf") else rounds))
    if device.type != "cuda":
        return [_wall_ms(call, device) for _ in range(rounds)]
    marks = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        marks.append((begin, end))
    torch.cuda.synchronize(device)
    return [begin.elapsed_time(end) for begin, end in marks]


def _wall_ms(call: Callable[[], object], device: torch.device) -> float:
    start_ns = time.perf_counter_ns()
    call()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return (time.perf_counter_ns() - start_ns) / 1e6
