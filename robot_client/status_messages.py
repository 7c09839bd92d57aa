"""What loop and recorder say of themselves for people, and what the policy imagined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class LoopStatus:
    """The loop's state for people, about ten times a second and at every change of mode."""

    stamp_ns: int
    mode: str
    source: str
    epoch: int
    instruction: str
    reason: str
    """Why this mode was entered, one line."""
    row: int
    chunk: str
    plan_left_ns: int
    """Duration until the last row of the plan expires; negative = expired; 0 without a plan."""
    at_rest: bool
    counters: Mapping[str, int]
    """Ticks, skips, refusals, clips by reason, replans, failures, drops."""
    notes: Mapping[str, str]
    """Real-time rights got or refused, and whatever is said once."""
    finished: bool
    """Last message: the process ends now, arms as `mode` and `reason` say."""


@dataclass(frozen=True, slots=True)
class RecorderStatus:
    """The recorder's state for people, once a second."""

    stamp_ns: int
    folder: str
    written: int
    """Messages that are on the disk."""
    lost: int
    """Messages that will never be."""
    backlog_bytes: int
    trouble: str
    """Why recording has stopped; empty while it goes on."""
    finished: bool
    """Last message: the episode is closed."""
    complete: bool
    """With finished: nothing is missing."""


@dataclass(frozen=True, slots=True, eq=False)
class Imagined:
    """What the policy imagined from the images of one moment, for people to look at."""

    stamp_ns: int
    """The moment; frame i predicts stamp_ns + i * frame_step_ns."""
    frame_step_ns: int
    frames: NDArray
    """(T, height, width, 3) uint8 RGB canvas frames."""
