"""A policy that does what it is told: scripted latency, scripted rows, scripted faults. For tests, benches and robots
without a bundle; it answers over the same wire as a real one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from contract.errors import EngineError, VocabularyError
from contract.handshake import contract_hash
from contract.layout import CHANNELS, SIZE
from contract.server_info import CameraSpec, ServerInfo, ServerState
from contract.types import ActionChunk, GuidanceScales, ImaginedFrames, ImagineRequest, Observation, TemporalRatio
from contract.version import PROTOCOL

Rows: TypeAlias = Callable[[Observation, int], NDArray]
"""(observation, number of free rows) -> rows (R, 14)."""
Fault: TypeAlias = Literal["raise", "crash", "nan", "shape"]
"""A typed engine error, an untyped exception, NaN in row 1, or one row too few."""

ROLES: Final = ("top", "left_wrist", "right_wrist")


def numbered_rows(observation: Observation, count: int) -> NDArray:
    """Every channel of a row carries the row's own number, counted from engagement."""
    numbers = np.arange(observation.first_row, observation.first_row + count, dtype=np.float32)
    return np.repeat(numbers[:, np.newaxis], SIZE, axis=1)


def holding_rows(observation: Observation, count: int) -> NDArray:
    """Every row is the measured pose."""
    return np.repeat(observation.joints[np.newaxis], count, axis=0)


def scripted_info(
    height: int = 480, width: int = 640, horizon: int = 16, max_prefix: int = 8, vocabulary: tuple[str, ...] = ()
) -> ServerInfo:
    """ServerInfo of three cameras of one size."""
    return ServerInfo(
        protocol=PROTOCOL,
        contract_hash=contract_hash(),
        model_id="scripted",
        trained=False,
        weights_hash="0" * 64,
        engine_id="scripted/1",
        runs_on="a script, no model",
        cameras=tuple(CameraSpec(role=role, height=height, width=width) for role in ROLES),
        layout=CHANNELS,
        action_kinds=("absolute",) * SIZE,
        horizon=horizon,
        step_ns=100_000_000,
        max_prefix=max_prefix,
        vocabulary=vocabulary,
        calibration="UNCALIBRATED",
        guidance="off",
        costs_ns={"branches_1": 0, "branches_2": 0, "branches_3": 0},
        state="READY",
    )


@dataclass(frozen=True, slots=True)
class Script:
    """What the policy does. `faults` maps the number of a replan, counted from 0, to what goes wrong in it."""

    info: ServerInfo = field(default_factory=scripted_info)
    latency_s: float = 0.0
    load_s: float = 0.0
    rows: Rows = numbered_rows
    faults: Mapping[int, Fault] = field(default_factory=dict)
    masses_shape: tuple[int, int, int] = (4, 4, 4)
    """(flow steps, layers, heads) of the masses in an answer."""


class ScriptedPolicy:
    """`ServedPolicy` over a `Script`; `sleep` is injected so that a test may use its own time."""

    def __init__(self, script: Script, sleep: Callable[[float], None] = time.sleep) -> None:
        self._script, self._sleep = script, sleep
        self.replans = 0
        self.closed = False

    def info(self, state: ServerState) -> ServerInfo:
        """The script's ServerInfo in the given state."""
        return self._script.info.model_copy(update={"state": state})

    def warm_up(self) -> None:
        """Takes `load_s`."""
        self._sleep(self._script.load_s)

    def replan(self, observation: Observation, elapsed_ns: Callable[[], int]) -> ActionChunk:
        """Sleeps, then answers with the scripted rows or the scripted fault."""
        fault = self._script.faults.get(self.replans)
        self.replans += 1
        self._require_words(observation.instruction)
        self._sleep(self._script.latency_s)
        if fault == "raise":
            raise EngineError("scripted fault", expected="an answer", got="none", remedy="ask again")
        if fault == "crash":
            raise ZeroDivisionError("scripted crash")
        rows = np.array(self._script.rows(observation, self._script.info.horizon - len(observation.prefix)), np.float32)
        if fault == "nan":
            rows[1, 3] = np.nan
        return self._chunk(observation, rows[:-1] if fault == "shape" else rows, elapsed_ns())

    def imagine(self, request: ImagineRequest, between: Callable[[], None]) -> ImaginedFrames:
        """Frame 0 is the first camera's image; each later one is a little darker. `between` runs before each chunk."""
        for _ in range(request.chunks):
            between()
            self._sleep(self._script.latency_s)
        asked = request.observation
        image = asked.images[self._script.info.cameras[0].role]
        fade = [image // (1 + k) for k in range(1 + 16 * request.chunks)]
        return ImaginedFrames(asked.session, asked.epoch, asked.sequence, np.stack(fade), 100_000_000, {})

    def close(self) -> None:
        """Remembers that it was called."""
        self.closed = True

    def _chunk(self, asked: Observation, rows: NDArray, elapsed_ns: int) -> ActionChunk:
        masses = np.full((*self._script.masses_shape, self._script.info.horizon, 2), 0.5, np.float32)
        return ActionChunk(
            session=asked.session,
            epoch=asked.epoch,
            sequence=asked.sequence,
            observation_stamp_ns=asked.stamp_ns,
            first_row=asked.first_row,
            rows=rows,
            temporal_ratio=TemporalRatio(1.0, 1.0, float("nan"), masses),
            scales=GuidanceScales(0.0, 0.0),
            branches_run=("full",),
            branches_dropped=(),
            durations_ns={"total": elapsed_ns},
            engine_id=self._script.info.engine_id,
        )

    def _require_words(self, instruction: str) -> None:
        known = self._script.info.vocabulary
        unknown = [word for word in instruction.split() if known and word not in known]
        if unknown:
            raise VocabularyError(
                "instruction",
                expected=", ".join(known),
                got=", ".join(unknown),
                remedy="use the words the policy knows",
            )
