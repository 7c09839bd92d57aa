"""A link without a server: a script answers each observation after a time it chooses. For tests and benches; it ships.

It has what the planner uses of `robot_client.link.policy_link.PolicyLink`. Nothing in its answers comes from a model,
and its ServerInfo says so.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contract.check import check_observation
from contract.errors import LinkError, StackError
from contract.handshake import contract_hash
from contract.layout import CHANNELS
from contract.server_info import CameraSpec, ServerInfo
from contract.types import ActionChunk, GuidanceScales, Observation, Skipped, TemporalRatio
from contract.version import PROTOCOL
from robot_client.clock import NS_PER_S, Clock
from robot_client.link.asked import Answer, Asked
from robot_client.link.connection import LinkState


@dataclass(frozen=True, slots=True, eq=False)
class Reply:
    """What the script gives: rows (R, 14), or an error or a refusal, `latency_ns` after the question."""

    latency_ns: int
    outcome: NDArray | StackError | str
    first_row: int | None = None
    """Another first row than was asked for, to play a wrong server."""


Script = Callable[[Observation, int], Reply | None]
"""(observation, number of the request from 0) -> reply, or None for "never answered"."""


class ScriptedLink:
    """Answers come out of `poll` in the order of their times."""

    def __init__(self, clock: Clock, info: ServerInfo, script: Script) -> None:
        self._clock, self._info, self._script = clock, info, script
        self._due: list[Answer] = []
        self.state: LinkState = "CLOSED"
        self.refusal: StackError | None = None
        self.asked: list[Observation] = []

    @property
    def info(self) -> ServerInfo:
        return self._info

    def open(self) -> None:
        self.state = "READY"

    def submit(self, observation: Observation, budget_ms: float | None = None) -> int:
        if self.state != "READY":
            raise LinkError("scripted link", expected="READY", got=self.state)
        check_observation(observation, self._info)
        number = len(self.asked)
        self.asked.append(observation)
        reply = self._script(observation, number)
        if reply is not None:
            now_ns = self._clock.now_ns()
            asked = Asked(number, observation, (), now_ns, now_ns)
            self._due.append(Answer(asked, self._outcome(observation, reply), now_ns + reply.latency_ns))
            self._due.sort(key=lambda answer: answer.answered_ns)
        return number

    def poll(self, timeout_s: float = 0.0, wake_on: Sequence[int] = ()) -> list[Answer]:
        if timeout_s > 0.0 and not self._here():
            left_s = (
                min((answer.answered_ns - self._clock.now_ns()) / NS_PER_S for answer in self._due)
                if self._due
                else 1e9
            )
            select.select(wake_on, (), (), max(0.0, min(timeout_s, left_s)))
        here = self._here()
        self._due = self._due[len(here) :]
        return here

    def close(self) -> None:
        self.state = "CLOSED"

    def _here(self) -> list[Answer]:
        now_ns = self._clock.now_ns()
        return [answer for answer in self._due if answer.answered_ns <= now_ns]

    def _outcome(self, observation: Observation, reply: Reply) -> ActionChunk | Skipped | StackError:
        if isinstance(reply.outcome, StackError):
            return reply.outcome
        if isinstance(reply.outcome, str):
            return Skipped(observation.session, observation.epoch, observation.sequence, reply.outcome)
        first_row = observation.first_row if reply.first_row is None else reply.first_row
        return chunk_for(observation, reply.outcome, first_row, reply.latency_ns, self._info.engine_id)


def chunk_for(
    observation: Observation, rows: NDArray, first_row: int, latency_ns: int, engine_id: str = "scripted"
) -> ActionChunk:
    """A chunk that answers `observation`, without any reading of a model."""
    return ActionChunk(
        session=observation.session,
        epoch=observation.epoch,
        sequence=observation.sequence,
        observation_stamp_ns=observation.stamp_ns,
        first_row=first_row,
        rows=np.asarray(rows, np.float32),
        temporal_ratio=TemporalRatio(0.0, 0.0, float("nan"), np.zeros((0, 0, 0, 0, 2), np.float32)),
        scales=GuidanceScales(0.0, 0.0),
        branches_run=("full",),
        branches_dropped=(),
        durations_ns={"script": latency_ns},
        engine_id=engine_id,
    )


def scripted_info(
    cameras: Sequence[CameraSpec], step_ns: int = 100_000_000, horizon: int = 16, max_prefix: int = 8
) -> ServerInfo:
    """ServerInfo of a scripted policy."""
    return ServerInfo(
        protocol=PROTOCOL,
        contract_hash=contract_hash(),
        model_id="scripted",
        trained=False,
        weights_hash="none",
        engine_id="scripted",
        runs_on="a script",
        cameras=tuple(cameras),
        layout=CHANNELS,
        action_kinds=("absolute",) * len(CHANNELS),
        horizon=horizon,
        step_ns=step_ns,
        max_prefix=max_prefix,
        vocabulary=(),
        calibration="UNCALIBRATED",
        guidance="off",
        costs_ns={},
        state="READY",
    )
