"""When a link says hello and pings, and when the other side has been silent for too long. Times, no sockets."""

from __future__ import annotations

from typing import Final

from robot_client.link.budgets import Budgets

_HELLO_NS: Final = 400_000_000
"""Between two hellos while the server says nothing; longer than its 300 ms for a probe."""
_BUSY_NS: Final = 100_000_000
"""Between two hellos while the server loads."""
_PATIENCE: Final = 3
"""Times the silence that is named, after which a socket is replaced."""


class Pulse:
    """All times are the caller's clock [ns]."""

    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets
        self._heard_ns = self._ping_due_ns = self._pings = 0
        self.hello_due_ns = 0

    @property
    def ping_due_ns(self) -> int:
        """When the next ping is due."""
        return self._ping_due_ns

    def heard(self, now_ns: int) -> None:
        """A message came."""
        self._heard_ns = now_ns

    def hello_said(self, now_ns: int) -> None:
        """The next one when there was no word for a while."""
        self.hello_due_ns = now_ns + _HELLO_NS

    def hello_later(self, now_ns: int) -> None:
        """The server loads."""
        self.hello_due_ns = now_ns + _BUSY_NS

    def ping(self, now_ns: int) -> int | None:
        """The number of the ping to send now; None when none is due."""
        if now_ns < self._ping_due_ns:
            return None
        self._pings += 1
        self._ping_due_ns = now_ns + int(self._budgets.heartbeat_ms * 1e6)
        return self._pings

    def silent(self, now_ns: int) -> bool:
        """Nothing was heard for longer than the budget."""
        return now_ns - self._heard_ns > self._budgets.silent_ms * 1e6

    def giving_up_ns(self, opened_ns: int) -> int:
        """When a socket of that age on which nothing is heard is replaced."""
        return max(opened_ns, self._heard_ns) + int(_PATIENCE * 1e6 * self._budgets.silent_ms)
