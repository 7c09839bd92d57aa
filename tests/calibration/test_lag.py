"""Delays between signals."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.lag import Signal, lag_of
from contract.errors import ConfigurationError


def _moved(t: np.ndarray) -> np.ndarray:
    return np.sin(2 * np.pi * 0.6 * t) + 0.4 * np.sin(2 * np.pi * 1.42 * t)


def _pair(rate_hz: float, delay_s: float, noise: float = 0.0, sign: float = 1.0) -> tuple[Signal, Signal]:
    t = np.arange(0.0, 6.0, 0.005)
    seen = np.arange(0.0, 6.0, 1.0 / rate_hz)
    shake = noise * np.random.default_rng(0).standard_normal(len(seen))
    return Signal(t, _moved(t)), Signal(seen, sign * 37.0 * _moved(seen - delay_s) + 5.0 + shake)


@pytest.mark.parametrize("delay_s", [0.0, 0.0123, 0.047, 0.2])
def test_an_arms_delay_is_found_within_two_milliseconds_at_200_hz(delay_s: float) -> None:
    found = lag_of(*_pair(200.0, delay_s, noise=0.3), "left arm")
    assert abs(found.seconds - delay_s) < 0.002 and found.uncertainty_s < 0.01 and found.correlation > 0.99


@pytest.mark.parametrize(("rate_hz", "delay_s"), [(30.0, 0.0517), (10.0, 0.133)])
def test_a_cameras_delay_is_found_within_a_third_of_a_frame_also_when_it_sees_the_motion_mirrored(
    rate_hz: float, delay_s: float
) -> None:
    found = lag_of(*_pair(rate_hz, delay_s, noise=0.5, sign=-1.0), "top")
    assert abs(found.seconds - delay_s) * rate_hz < 1 / 3


def test_a_camera_that_looks_at_something_else_gives_no_latency() -> None:
    leader, _ = _pair(30.0, 0.0)
    t = np.arange(0.0, 6.0, 1 / 30)
    with pytest.raises(ConfigurationError, match="alike"):
        lag_of(leader, Signal(t, np.random.default_rng(1).standard_normal(len(t))), "top")


def test_an_arm_that_stands_still_gives_no_latency() -> None:
    t = np.arange(0.0, 6.0, 0.005)
    with pytest.raises(ConfigurationError, match="moves"):
        lag_of(Signal(t, np.zeros(len(t))), Signal(t, np.zeros(len(t))), "left arm")
