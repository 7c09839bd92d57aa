"""When an image was captured, however its device tells the time."""

from __future__ import annotations

import numpy as np
import pytest

from robot_client.cameras.source import Captured, DeviceClock
from robot_client.cameras.stamps import JUMP_NS, StampMap
from robot_client.clock import NS_PER_MS, NS_PER_S

IMAGE = np.zeros((2, 2, 3), np.uint8)
LATENCY_NS = 12 * NS_PER_MS
START_NS = 1000 * NS_PER_S


def seen(arrival_ns: int, device_ns: int | None = None, clock: DeviceClock = "own") -> Captured:
    return Captured(IMAGE, arrival_ns, device_ns, clock)


def test_without_a_stamp_it_is_arrival_less_the_calibrated_latency() -> None:
    assert StampMap(LATENCY_NS).stamp(seen(START_NS)) == (START_NS - LATENCY_NS, "arrival")


def test_a_stamp_on_our_own_clock_is_believed_unless_it_cannot_be() -> None:
    stamps = StampMap(LATENCY_NS)
    assert stamps.stamp(seen(START_NS, START_NS - 5, "host")) == (START_NS - 5, "device")
    for wrong in (START_NS + 1, START_NS - 2 * NS_PER_S, 17):
        assert stamps.stamp(seen(START_NS, wrong, "host")) == (START_NS - LATENCY_NS, "arrival")
    assert stamps.counts["jumps"] == 3


def test_a_clock_of_its_own_is_mapped_by_the_frames_that_came_fastest() -> None:
    """Delays on the way are in arrival, never in the capture stamp."""
    random = np.random.default_rng(0)
    stamps = StampMap(LATENCY_NS)
    errors = []
    for number in range(600):
        captured_ns = START_NS + number * 33 * NS_PER_MS
        way_ns = LATENCY_NS + int(random.exponential(4.0) * NS_PER_MS)
        stamp_ns, how = stamps.stamp(seen(captured_ns + way_ns, 77 * NS_PER_S + number * 33 * NS_PER_MS))
        assert how == "mapped" and stamp_ns <= captured_ns + way_ns
        errors.append(abs(stamp_ns - captured_ns))
    assert max(errors[100:]) < 1 * NS_PER_MS


@pytest.mark.parametrize("jump_ns", [-5 * NS_PER_S, 5 * NS_PER_S, -JUMP_NS - 1])
def test_a_clock_that_jumps_falls_back_to_arrival_once_and_is_mapped_anew(jump_ns: int) -> None:
    stamps = StampMap(LATENCY_NS)
    for number in range(10):
        stamps.stamp(seen(START_NS + number * 100 * NS_PER_MS, number * 100 * NS_PER_MS + 10 * NS_PER_S))
    arrival_ns = START_NS + NS_PER_S
    jumped = 11 * NS_PER_S + jump_ns
    assert stamps.stamp(seen(arrival_ns, jumped)) == (arrival_ns - LATENCY_NS, "arrival")
    later, how = stamps.stamp(seen(arrival_ns + 100 * NS_PER_MS, jumped + 100 * NS_PER_MS))
    assert (later, how) == (arrival_ns + 100 * NS_PER_MS - LATENCY_NS, "mapped")
    assert stamps.counts["jumps"] == 1
