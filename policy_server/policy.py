"""A served policy: bundle and engine, ready to answer. No sockets here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from contract.check import check_observation
from contract.handshake import contract_hash
from contract.layout import CHANNELS
from contract.manifest import BundleManifest
from contract.server_info import ServerInfo, ServerState
from contract.types import ActionChunk, GuidanceScales, ImaginedFrames, ImagineRequest, Observation
from contract.version import PROTOCOL
from policy_server.budget import BranchCosts
from policy_server.bundle import load_bundle
from policy_server.engines.base import Engine
from policy_server.engines.loading import load_engine
from policy_server.imagine import Imaginer
from policy_server.replan import Replanner
from policy_server.stages import Stages
from policy_server.text import TextContexts
from policy_server.warm_up import measure_costs, neutral_observation


class Policy:
    """Answers observations. One thread at a time; nothing of an observation is kept.

    The same observation gives the same answer, but for branches dropped for want of time, which the answer names.
    """

    def __init__(self, manifest: BundleManifest, engine: Engine, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self.manifest = manifest
        self.engine = engine
        self._costs = BranchCosts()
        self._clock = clock
        stages = Stages(engine)
        texts = TextContexts(manifest.text, stages)
        self._replanner = Replanner(manifest, stages, texts, clock)
        self._imaginer = Imaginer(manifest, stages, texts, clock)
        self._checked_against = self.info("READY")

    @classmethod
    def load(
        cls, folder: Path | str, engine: str = "onnxruntime", threads: int = 0, engines: Path | None = None
    ) -> Policy:
        """The policy in a bundle folder on the engine named. `threads` 0 = the library's choice.

        `engines` is the folder of compiled engines, if not the one beside the bundle.

        Raises `BundleError` for a broken bundle and `EngineError` for an engine that is not there: nothing else is
        used in its place.
        """
        bundle = load_bundle(folder)
        return cls(bundle.manifest, load_engine(engine, bundle, threads, engines))

    def info(self, state: ServerState) -> ServerInfo:
        """What a client is told in the first exchange."""
        manifest = self.manifest
        return ServerInfo(
            protocol=PROTOCOL,
            contract_hash=contract_hash(),
            model_id=manifest.model_id,
            trained=manifest.trained,
            weights_hash=manifest.weights_hash,
            engine_id=self.engine.id,
            runs_on=self.engine.runs_on,
            cameras=manifest.canvas.cameras(),
            layout=CHANNELS,
            action_kinds=manifest.action.kinds,
            horizon=manifest.head.horizon,
            step_ns=manifest.head.step_ns,
            max_prefix=manifest.head.max_prefix,
            vocabulary=manifest.text.vocabulary,
            calibration="UNCALIBRATED" if manifest.tr_calibration is None else "CALIBRATED",
            guidance=manifest.guidance.mode,
            costs_ns=self._costs.answer_ns(),
            state=state,
        )

    def warm_up(self, rounds: int = 8) -> None:
        """Run every path a replan can take and measure its time, so that the first real answer is like any other."""
        self._costs = measure_costs(self.manifest, self.replan_forced, rounds)
        constant = replace(neutral_observation(self.manifest), guidance="constant")
        self._replanner.replan(constant, lambda: 0, BranchCosts())

    def replan(self, observation: Observation, elapsed_ns: Callable[[], int]) -> ActionChunk:
        """The answer to an observation; `elapsed_ns` gives the time since its receipt, for the budget.

        Raises `FieldError` naming the first field that is not as ServerInfo asks, `VocabularyError` for unknown
        words, `EngineError` when the engine fails or gives anything that is not finite.
        """
        check_observation(observation, self._checked_against)
        return self._replanner.replan(observation, elapsed_ns, self._costs)

    def replan_forced(self, observation: Observation, scales: GuidanceScales) -> ActionChunk:
        """An answer with scales from outside, whatever TR says and with no budget: for warm-up and benchmarks."""
        return self._replanner.replan(observation, lambda: 0, BranchCosts(), scales)

    def imagine(self, request: ImagineRequest, between: Callable[[], None] = lambda: None) -> ImaginedFrames:
        """Predicted video after an observation. `between` runs before each pass and may call `replan`."""
        check_observation(request.observation, self._checked_against)
        return self._imaginer.imagine(request, between)

    def close(self) -> None:
        """Give up the engine."""
        self.engine.close()
