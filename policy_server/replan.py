"""One replan: Observation -> ActionChunk."""

from __future__ import annotations

import time
from collections.abc import Callable

from numpy.typing import NDArray

from contract.errors import FieldError
from contract.manifest import BundleManifest
from contract.types import ActionChunk, GuidanceScales, Observation
from policy_server.budget import BranchCosts
from policy_server.guided import Answer, GuidedPolicy
from policy_server.question import QuestionMaker
from policy_server.rules import Rules
from policy_server.stages import Stages, Stopwatch, require_finite
from policy_server.statistics import Normaliser
from policy_server.text import TextContexts


class Replanner:
    """Answers observations with one engine, one at a time, and keeps nothing of them."""

    def __init__(
        self,
        manifest: BundleManifest,
        stages: Stages,
        texts: TextContexts,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._clock = clock
        self._engine_id = stages.engine.id
        self._questions = QuestionMaker(manifest, stages, texts)
        self._guided = GuidedPolicy(manifest, stages, texts)
        self._normaliser = Normaliser(manifest)

    def replan(
        self,
        observation: Observation,
        elapsed_ns: Callable[[], int],
        costs: BranchCosts,
        forced: GuidanceScales | None = None,
    ) -> ActionChunk:
        """The answer to a checked observation; `elapsed_ns` is the time since receipt, `forced` overrides the scales.

        Raises `VocabularyError` for unknown words, `FieldError` for unusable views or branches, and `EngineError`
        for anything that is not finite: never a doubtful answer.
        """
        watch = Stopwatch(self._clock)
        if "full" not in observation.branches:
            raise FieldError(
                "branches", expected="full among them", got=observation.branches, remedy="full always runs; allow it"
            )
        question = self._questions.make(observation, watch)
        answer = self._guided.answer(question, Rules.of(observation, elapsed_ns, costs, forced), watch)
        rows = self._normaliser.rows(answer.rows, observation.joints)[len(question.prefix) :]
        require_finite(rows, "rows", "denormalisation")
        watch.stage("finish")
        return _chunk(observation, answer, rows, watch, self._engine_id)


def _chunk(observation: Observation, answer: Answer, rows: NDArray, watch: Stopwatch, engine_id: str) -> ActionChunk:
    return ActionChunk(
        session=observation.session,
        epoch=observation.epoch,
        sequence=observation.sequence,
        observation_stamp_ns=observation.stamp_ns,
        first_row=observation.first_row,
        rows=rows,
        temporal_ratio=answer.reading,
        scales=answer.scales,
        branches_run=("full", *answer.choice.extras),
        branches_dropped=answer.choice.dropped,
        durations_ns=watch.durations_ns(),
        engine_id=engine_id,
    )
