"""What the processes of one robot say to each other over `robot_client.channel`.

| from | to | messages |
|---|---|---|
| loop | planner | `PlanRequest` |
| planner | loop | `PolicyReady`, `ActionChunk` (masses stripped), `PlanFailure`, `CameraAges` |
| supervisor | loop | `PersonEvent` |
| loop | supervisor, recorder | `TickBatch`, `LoopStatus` |
| planner | supervisor | `PolicyReady`, `PlanFailure`, `ReplanRecord` |
| planner | recorder | the same, `Observation` and the server's welcome (`robot_client.episodes.feed`) |
| supervisor | recorder | `Imagined` (over the planner's pipe) |
| recorder | supervisor | `RecorderStatus` |

All `*_ns` are the robot host's monotonic clock unless they are called a duration or an age.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from contract.types import ActionChunk, Branch, GuidanceMode

PersonAct = Literal[
    "enable",
    "relax",
    "power_off",
    "engage",
    "replay",
    "teleop",
    "external",
    "clutch",
    "alive",
    "hold",
    "release",
    "home",
    "park",
    "instruction",
    "stop",
    "finish",
]
PERSON_ACTS: tuple[PersonAct, ...] = get_args(PersonAct)


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


@dataclass(frozen=True, slots=True)
class PersonEvent:
    """What a person did. `text` is the instruction for "instruction", a confirmation for "relax" and "power_off".

    enable: torque on, told seeded from measured. engage: hand the arms to the policy. replay: hand them to the episode.
    teleop: hand them, or with the text "left" or "right" one of them, to the leader. external: hand them to the
    external trajectory. clutch: "open" or "close" the leader's clutch. alive: a sign of life of the operator.
    hold, stop: brake and hold. release: HOLD to IDLE. home, park: move to that pose of the station. finish: end of the
    run; brake, hold, on the twin park, then exit. relax, power_off: on real arms only at rest, and only with the text
    "supported".
    """

    act: PersonAct
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class TickBatch:
    """N consecutive ticks of the loop, column-wise. Made by `robot_client.ticks`.

    Indices point into the lists: mode and source per tick by name, chunk by id (-1 = no row of a chunk ran).
    """

    modes: tuple[str, ...]
    sources: tuple[str, ...]
    chunks: tuple[str, ...]
    first_tick: int
    """Number of the first tick of the batch, from 0; a gap to the batch before it is what was lost on the way."""
    deadline_ns: NDArray
    """(N,) int64, the tick's place on the fixed grid."""
    stamp_ns: NDArray
    """(N,) int64, when the tick's command was given."""
    lateness_ns: NDArray
    """(N,) int64, start of the tick after its deadline."""
    skipped: NDArray
    """(N,) int32, whole periods skipped just before this tick."""
    mode: NDArray
    """(N,) int32"""
    source: NDArray
    """(N,) int32"""
    epoch: NDArray
    """(N,) int64"""
    asked: NDArray
    """(N, 14) float64, NaN where the source asked for nothing."""
    told: NDArray
    """(N, 14) float64, NaN while nothing was commanded."""
    measured: NDArray
    """(N, 14) float64, NaN when there was no reading."""
    measured_stamp_ns: NDArray
    """(N,) int64"""
    row: NDArray
    """(N,) int64, number of the newest row that is due; -1 = none."""
    fraction: NDArray
    """(N,) float64, how far the target is on its way to the next row."""
    chunk: NDArray
    """(N,) int32"""
    clips: NDArray
    """(N, 14) uint16, bits of `robot_client.safety.limits.Clip`."""
    intervention: NDArray = field(default_factory=lambda: np.zeros(0, np.uint8))
    """(N,) uint8, bit per arm (left 1, right 2) that a person moved in place of the policy."""
    safety_ns: NDArray = field(default_factory=lambda: np.zeros(0, np.int64))
    """(N,) int64, duration of limiting the target."""
    command_ns: NDArray = field(default_factory=lambda: np.zeros(0, np.int64))
    """(N,) int64, duration of giving it to the rig."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Imagined:
    """What the policy imagined from the images of one moment, for people to look at."""

    stamp_ns: int
    """The moment; frame i predicts stamp_ns + i * frame_step_ns."""
    frame_step_ns: int
    frames: NDArray
    """(T, height, width, 3) uint8 RGB canvas frames."""


LocalMessage: TypeAlias = (
    PlanRequest
    | PolicyReady
    | PlanFailure
    | CameraAges
    | PersonEvent
    | TickBatch
    | LoopStatus
    | RecorderStatus
    | ReplanRecord
    | Imagined
    | ActionChunk
)
