"""An offset that decays: how a target changes over from one course to another without a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_client.clock import NS_PER_S
from robot_client.safety.limits import Limits

_PEAK_SPEED: Final = 1.875
_PEAK_ACCELERATION: Final = 10.0 / 3.0**0.5
"""Of a minimum-jerk move of length 1 in time 1 (Flash and Hogan 1985): 15/8 and 10/sqrt(3)."""


@dataclass(frozen=True, slots=True, eq=False)
class Fade:
    """Starts at `offset` (14,) and is gone after `duration_ns`, along a minimum-jerk course."""

    offset: NDArray[np.float64]
    start_ns: int
    duration_ns: int

    def at(self, now_ns: int) -> NDArray[np.float64]:
        """What is left of the offset."""
        return self.offset * (1.0 - min_jerk((now_ns - self.start_ns) / self.duration_ns))

    def over(self, now_ns: int) -> bool:
        """Whether nothing is left."""
        return now_ns >= self.start_ns + self.duration_ns


@dataclass(frozen=True, slots=True, eq=False)
class Seam:
    """How one plan changes over into another that contradicts it: never faster than the limits allow."""

    limits: Limits

    def fade_ns(self, offset: NDArray[np.float64]) -> int:
        """How long an offset (14,) takes to fade."""
        return gentle_duration_ns(offset, self.limits, 1.0)

    def softened(self, before: NDArray[np.float64], rows: NDArray[np.float64], step_ns: int) -> NDArray[np.float64]:
        """`rows` (N, 14) after row `before` (14,), drawn towards it where its distance is more than a step may take."""
        jump = before - rows[0]
        if (np.abs(jump) <= self.limits.speed * step_ns / NS_PER_S).all():
            return rows
        whole_ns = self.fade_ns(jump)
        left = [1.0 - min_jerk(k * step_ns / whole_ns) for k in range(1, len(rows) + 1)]
        return rows + np.outer(left, jump)


def min_jerk(fraction: float) -> float:
    """0 up to 0, 1 from 1 on; 10 f^3 - 15 f^4 + 6 f^5 between, at rest at both ends."""
    f = min(max(fraction, 0.0), 1.0)
    return f * f * f * (10.0 + f * (6.0 * f - 15.0))


def gentle_duration_ns(offset: NDArray[np.float64], limits: Limits, share: float) -> int:
    """Time in which `offset` (14,) fades with no channel above `share` (0..1] of its speed and acceleration limits."""
    way = np.abs(offset) / share
    by_speed = _PEAK_SPEED * way / limits.speed
    by_acceleration = np.sqrt(_PEAK_ACCELERATION * way / limits.acceleration)
    longest_s = float(np.maximum(by_speed, by_acceleration).max())
    return max(int(longest_s * NS_PER_S), int(limits.period_s * NS_PER_S))
