"""The one place where the robot host's monotonic clock becomes ROS time. Only for output: nothing is decided by it."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RosTime:
    """ROS time = monotonic + `offset_ns`, taken once per episode, so that differences between stamps stay exact."""

    offset_ns: int

    def of(self, monotonic_ns: int) -> int:
        """Nanoseconds since 1970 of a monotonic stamp; the start of 1970 for what would lie before it."""
        return max(0, monotonic_ns + self.offset_ns)

    def monotonic(self, ros_ns: int) -> int:
        """The monotonic stamp behind a ROS time of the same episode."""
        return ros_ns - self.offset_ns


def ros_time_now() -> RosTime:
    """The mapping as the host's wall clock has it now."""
    return RosTime(time.time_ns() - time.monotonic_ns())
