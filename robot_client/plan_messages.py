"""What loop, planner and supervisor say to each other of plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from numpy.typing import NDArray

from contract.types import Branch, GuidanceMode


@dataclass(frozen=True, slots=True, eq=False)
class PlanRequest:
    """The loop asks for a chunk; the planner adds the newest images and sends the observation."""

    epoch: int
    sequence: int
    first_row: int
    prefix: NDArray
    """(P, 14) float32, the committed rows just before first_row."""
    joints: NDArray
    """(14,) float32, measured."""
    joints_stamp_ns: int
    instruction: str
    seed: int
    budget_ns: int
    guidance: GuidanceMode
    asked_ns: int


@dataclass(frozen=True, slots=True)
class PolicyReady:
    """A server answered the handshake. The loop needs its step and prefix; before this nothing can be engaged."""

    session: str
    model_id: str
    engine_id: str
    trained: bool
    step_ns: int
    horizon: int
    max_prefix: int
    answer_ns: int
    """Duration the server expects of its slowest answer."""


@dataclass(frozen=True, slots=True)
class PlanFailure:
    """A request that gets no chunk, and why (an error's code and line). sequence -1: not about one request."""

    epoch: int
    sequence: int
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class CameraAges:
    """How old the newest image is of every camera the policy looks at. The loop, which sees no image, watches it."""

    stamp_ns: int
    ages_ns: Mapping[str, int]
    """Role of the station's camera -> age at stamp_ns."""


@dataclass(frozen=True, slots=True, eq=False)
class ReplanRecord:
    """One answered replan, whole, for the report and the episode."""

    session: str
    epoch: int
    sequence: int
    first_row: int
    prefix: NDArray
    joints: NDArray
    instruction: str
    seed: int
    guidance: GuidanceMode
    asked_ns: int
    sent_ns: int
    answered_ns: int
    image_ages_ns: Mapping[str, int]
    """Role -> age of the image when the observation was put together."""
    resize_ns: int
    """Duration of fitting all images."""
    rows: NDArray
    """(R, 14) float32"""
    tr_value: float
    tr_density: float
    tr_rank: float
    masses: NDArray
    """(flow steps, layers, heads, horizon, 2) float32; empty when they did not fit a datagram."""
    scale_lang: float
    scale_plan: float
    branches_run: tuple[Branch, ...]
    branches_dropped: tuple[Branch, ...]
    durations_ns: Mapping[str, int]
    """Server stage -> duration."""
    engine_id: str
    client_ns: Mapping[str, int] = field(default_factory=dict)
    """Robot side: check, encode, round_trip (encoded to received), decode -> duration."""
