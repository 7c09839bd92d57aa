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

from typing import TypeAlias

from contract.types import ActionChunk
from robot_client.person_event import PERSON_ACTS, PersonAct, PersonEvent
from robot_client.plan_messages import CameraAges, PlanFailure, PlanRequest, PolicyReady, ReplanRecord
from robot_client.status_messages import Imagined, LoopStatus, RecorderStatus
from robot_client.tick_batch import TickBatch

__all__ = [
    "PERSON_ACTS",
    "CameraAges",
    "Imagined",
    "LocalMessage",
    "LoopStatus",
    "PersonAct",
    "PersonEvent",
    "PlanFailure",
    "PlanRequest",
    "PolicyReady",
    "RecorderStatus",
    "ReplanRecord",
    "TickBatch",
]

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
