"""The way benchmark processes are driven: a number of rounds on standard input, a line of JSON with samples back."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


def answer_lines(sample: Callable[[], Any]) -> None:
    """For every line `N` of standard input, print N samples as one JSON list; return when it ends."""
    for line in sys.stdin:
        print(json.dumps([sample() for _ in range(int(line))]), flush=True)
