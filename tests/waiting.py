"""Waiting in tests for what another thread or process does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

PATIENCE_S: Final = 60.0
"""For one answer, one exit, one start: an end for what never comes, no measure of how quickly it must."""
STANDSTILL_S: Final = 20.0
"""Added to a time that the code must keep: a machine may stand still in the middle of it, and be slow for the rest."""
_NAP_S: Final = 0.01


def until(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether it came true within so many seconds of naps.

    Naps are counted, not the clock's seconds: when a machine stands still for a while, nobody's time has run, and the
    other side still gets its own.
    """
    for _ in range(round(seconds / _NAP_S)):
        if condition():
            return True
        time.sleep(_NAP_S)
    return condition()
