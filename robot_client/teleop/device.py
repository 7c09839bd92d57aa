"""What a leader device is, and the thread that reads one into a mailbox."""

from __future__ import annotations

import threading
from typing import Final, Protocol

import numpy as np

from contract.errors import StackError
from contract.layout import SIZE
from robot_client.clock import NS_PER_S, Clock
from robot_client.teleop.mail import LeaderMail
from robot_client.teleop.sample import LeaderGoal, LeaderSample

RATE_HZ: Final = 100
_JOIN_S: Final = 2.0


class LeaderDevice(Protocol):
    """Read a hundred times a second, in a thread or process of its own; a call may wait some milliseconds."""

    def open(self) -> None:
        """Raises `RigError` saying which part is missing."""

    def read(self, goal: LeaderGoal | None) -> LeaderSample:
        """Where the hand is; goes to `goal` when it can. Raises `RigError` when it cannot be read."""

    def close(self) -> None:
        """Let go of it. A leader with motors is left to its own weight slowly."""


class LeaderThread:
    """Reads `device` into `mail` until `close`. A reading that fails is sent as trouble, and reading goes on."""

    def __init__(self, device: LeaderDevice, mail: LeaderMail, clock: Clock) -> None:
        self._device, self._mail, self._clock = device, mail, clock
        self._over = threading.Event()
        self._thread = threading.Thread(target=self.run, name="leader", daemon=True)

    def open(self) -> None:
        """Open mailbox and device. Raises `RigError`."""
        self._mail.open()
        self._device.open()

    def start(self) -> None:
        """`open`, then read in a thread."""
        self.open()
        self._thread.start()

    def stop(self) -> None:
        """Read no more; returns at once."""
        self._over.set()

    def run(self) -> None:
        """The thread's work, or that of a process whose main thread it is."""
        period_ns = NS_PER_S // RATE_HZ
        due_ns = self._clock.now_ns()
        while not self._over.is_set():
            self._mail.put(self._read())
            due_ns = max(due_ns + period_ns, self._clock.now_ns() - period_ns)
            self._clock.sleep_until_ns(due_ns)

    def close(self) -> None:
        """Stop, and let go of device and mailbox."""
        self.stop()
        if self._thread.is_alive():
            self._thread.join(_JOIN_S)
        self._device.close()
        self._mail.close()

    def _read(self) -> LeaderSample:
        try:
            return self._device.read(self._mail.goal(self._clock.now_ns()))
        except StackError as error:
            return LeaderSample(np.full(SIZE, np.nan), self._clock.now_ns(), trouble=str(error))
