"""Time of work on a device: events on a card, the monotonic clock on a CPU."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch


def time_calls(call: Callable[[], object], device: torch.device, rounds: int, warm_up: int) -> list[float]:
    """Milliseconds of each of `rounds` calls after `warm_up` that are not counted (B16).

    On a card each call is timed by two events on its stream and the device is waited for before the times are read, so
    work that goes on after the call has returned counts too.
    """
    for _ in range(warm_up):
        call()
    if device.type != "cuda":
        return [_wall_ms(call) for _ in range(rounds)]
    torch.cuda.synchronize()
    marks = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        marks.append((begin, end))
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) for begin, end in marks]


def _wall_ms(call: Callable[[], object]) -> float:
    start_ns = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - start_ns) / 1e6
