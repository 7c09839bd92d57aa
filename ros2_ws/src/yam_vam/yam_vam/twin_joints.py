"""The twin's joints as /joint_states, from a thread of their own.

A timer of the node's executor would do, but it waits for its turn behind every image, command and service of the node,
and what is late there is old joints at the loop, which answers with HOLD.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from contract.errors import RigError
from robot_client.clock import NS_PER_S, MonotonicClock
from robot_client.pacer import Pacer
from robot_client.rigs.base import JointReading

END_S: Final = 1.0
"""One period is 0.1 s at most."""


class JointBeat:
    """Publishes each measurement that is new, `rate_hz` times a second at most, from `start` to `stop`."""

    def __init__(
        self, read: Callable[[], JointReading], publish: Callable[[JointReading], None], rate_hz: float
    ) -> None:
        self._read, self._publish = read, publish
        self._period_ns = int(NS_PER_S / rate_hz)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self.going = False
        """Whether measurements are published now."""

    def start(self) -> None:
        """Begin; `going` says when it is heard."""
        self._thread = threading.Thread(target=self._run, name="joints", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Returns once nothing is published any more; only then may the publisher go."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(END_S)

    def alive(self) -> bool:
        """Whether the thread still runs."""
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        pacer = Pacer(MonotonicClock(), self._period_ns)
        pacer.start()
        newest_ns = 0
        while not self._over.is_set():
            pacer.wait()
            if not self.going:
                continue
            try:
                reading = self._read()
            except RigError:  # nothing was measured yet
                continue
            if reading.stamp_ns > newest_ns and not self._over.is_set():
                newest_ns = reading.stamp_ns
                self._publish(reading)
