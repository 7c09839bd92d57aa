"""ROS stamps -> the robot host's monotonic clock, with a way out when a stamp cannot be believed."""

from __future__ import annotations

from typing import Final

from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.episodes.ros_time import RosTime

OLDEST_NS: Final = NS_PER_S
"""A message that says it is older than this on arrival was stamped by another clock."""
EARLY_NS: Final = 5 * NS_PER_MS
"""A message may seem to come this much before it was stamped: two processes read the wall clock at two times."""


class Stamps:
    """Of one topic. `latency_ns`: how old a message is when it comes, for stamps that cannot be used."""

    def __init__(self, time: RosTime, latency_ns: int = 0) -> None:
        self._time, self._latency_ns = time, latency_ns
        self._newest_ns = 0
        self.flagged = 0
        """Messages stamped by another clock, or by one that jumped: their arrival counts instead."""

    def another(self) -> Stamps:
        """The same rules for another topic."""
        return Stamps(self._time, self._latency_ns)

    def monotonic(self, ros_ns: int, arrival_ns: int) -> int:
        """Nanoseconds of the monotonic clock at which the message was made; never goes back."""
        stamp_ns = self._time.monotonic(ros_ns)
        if not (-EARLY_NS <= arrival_ns - stamp_ns <= OLDEST_NS and stamp_ns >= self._newest_ns):
            self.flagged += 1
            stamp_ns = arrival_ns - self._latency_ns
        self._newest_ns = max(self._newest_ns, min(stamp_ns, arrival_ns))
        return self._newest_ns
