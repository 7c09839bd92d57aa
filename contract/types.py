"""Typed values of the hot path. Frozen, slotted, arrays checked by `contract.check`, not here.

Every `*_ns` is the robot host's monotonic clock, except `durations_ns`, which are lengths of time and may come
from any host.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Branch = Literal["full", "nolang", "noplan"]
BRANCHES: Final[tuple[Branch, ...]] = get_args(Branch)
"""`full` sees everything; `nolang` the null instruction; `noplan` has the future masked in the head."""

GuidanceMode = Literal["off", "constant", "adaptive", "inverted"]
GUIDANCE_MODES: Final[tuple[GuidanceMode, ...]] = get_args(GuidanceMode)


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """One question to the policy. The server's answer is a function of this value alone (and of its budget)."""

    session: str
    epoch: int
    sequence: int
    stamp_ns: int
    """When the observation was put together."""
    joints: NDArray
    """(14,) float32, `contract.layout`, measured."""
    joints_stamp_ns: int
    images: Mapping[str, NDArray]
    """Role -> (height, width, 3) uint8 RGB of the size that ServerInfo asks for."""
    image_stamps_ns: Mapping[str, int]
    """Role -> capture time."""
    instruction: str
    seed: int
    """u64; all noise of the answer comes from it."""
    first_row: int
    """Number of the first row asked for, counted from engagement; just after the committed rows."""
    prefix: NDArray
    """(P, 14) float32: the committed rows first_row - P .. first_row - 1; P may be 0."""
    budget_ns: int
    """Time the server may take from receipt to answer; 0 = no limit."""
    guidance: GuidanceMode = "adaptive"
    branches: tuple[Branch, ...] = BRANCHES
    """Branches that may run; replay sends those that did run, which makes it exact."""


@dataclass(frozen=True, slots=True, eq=False)
class TemporalRatio:
    """How much the head relied on the imagined future in the conditional branch (PAPER.md, our definition)."""

    value: float
    """Mass on F divided by mass on C, ratio of sums over layers, heads, flow steps and free rows."""
    density: float
    """`value * |C| / |F|`."""
    rank: float
    """Percentile 0..1 among calibrated replans; NaN when uncalibrated."""
    masses: NDArray
    """(flow steps, layers, heads, horizon, 2) float32: mass on C, on F; (0, 0, 0, 0, 2) when stripped."""


@dataclass(frozen=True, slots=True)
class GuidanceScales:
    """Weights of the two guidance terms at this replan."""

    lang: float
    plan: float


@dataclass(frozen=True, slots=True, eq=False)
class ActionChunk:
    """The answer to one observation."""

    session: str
    epoch: int
    sequence: int
    observation_stamp_ns: int
    first_row: int
    rows: NDArray
    """(R, 14) float32 absolute targets for rows first_row .. first_row + R - 1; R = horizon - P."""
    temporal_ratio: TemporalRatio
    scales: GuidanceScales
    branches_run: tuple[Branch, ...]
    branches_dropped: tuple[Branch, ...]
    """Wanted by the scales but left out because they did not fit the budget."""
    durations_ns: Mapping[str, int]
    """Stage -> time spent on the server."""
    engine_id: str

    @property
    def chunk_id(self) -> str:
        """Names the chunk in logs, bags and every executed row."""
        return f"{self.session}/{self.epoch}/{self.sequence}"

    def without_masses(self) -> ActionChunk:
        """The same chunk for a reader that needs no masses (the control loop)."""
        bare = replace(self.temporal_ratio, masses=np.zeros((0, 0, 0, 0, 2), np.float32))
        return replace(self, temporal_ratio=bare)


@dataclass(frozen=True, slots=True)
class Skipped:
    """An observation that was not answered, and why."""

    session: str
    epoch: int
    sequence: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class ImagineRequest:
    """Asks for the predicted video after one observation, `chunks` times 1.7 s long."""

    observation: Observation
    chunks: int


@dataclass(frozen=True, slots=True, eq=False)
class ImaginedFrames:
    """Predicted canvas frames."""

    session: str
    epoch: int
    sequence: int
    frames: NDArray
    """(T, height, width, 3) uint8 RGB canvas frames; frame 0 is the current one."""
    frame_step_ns: int
    durations_ns: Mapping[str, int]
