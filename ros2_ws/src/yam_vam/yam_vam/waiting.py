"""Waiting of the client node: always with an end, and with its ears open."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from contract.errors import RigError
from robot_client.local_messages import PersonAct

_POLL_S: Final = 0.005
_AGAIN_S: Final = 0.5


class Waiting:
    """`pump` is called all the while; `told_to_end` ends every wait; `last` says what there was instead."""

    def __init__(
        self,
        pump: Callable[[], None],
        tell: Callable[[PersonAct], object],
        told_to_end: Callable[[], int],
        last: Callable[[], str],
    ) -> None:
        self._pump, self._tell, self._told_to_end, self._last = pump, tell, told_to_end, last

    def until(self, ready: Callable[[], bool], seconds: float) -> bool:
        """Whether it is ready in time."""
        until_s = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > until_s or self._told_to_end():
                return False
            self._pump()
            time.sleep(_POLL_S)
        return True

    def required(self, ready: Callable[[], bool], what: str, seconds: float) -> None:
        """Raises `RigError` when it is not ready in time."""
        if not self.until(ready, seconds):
            got = "a signal to end" if self._told_to_end() else self._last() or "silence"
            raise RigError("client", expected=f"{what} within {seconds:g} s", got=got)

    def telling(self, act: Callable[[], PersonAct], ready: Callable[[], bool], what: str, seconds: float) -> None:
        """Pass an act on until it is done: the loop enables only on a fresh joint reading. Raises `RigError`."""
        until_s = time.monotonic() + seconds
        self._tell(act())
        while not self.until(ready, _AGAIN_S):
            if time.monotonic() > until_s or self._told_to_end():
                raise RigError("client", expected=f"{what} within {seconds:g} s", got=self._last() or "silence")
            self._tell(act())
