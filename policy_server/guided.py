"""TR, guidance and the two passes of the head. PAPER.md, "TR-Adaptive Guidance".

Pass 1 runs the conditional branch through all flow steps; its masses give TR, TR gives the scales. When no other branch
is to run its rows are the answer, bit for bit. Otherwise pass 2 runs all branches in one batch from the same noise, on
the features and context that pass 1 computed for the conditional one. A head whose masses come with its context
(read-once) has its TR before the first flow step and needs no pass 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray

from contract.errors import EngineError
from contract.manifest import BundleManifest
from contract.types import GuidanceScales, TemporalRatio
from policy_server.budget import Choice, Extras
from policy_server.computation import Computation, computations
from policy_server.guidance import ZERO
from policy_server.question import Question
from policy_server.rules import Rules
from policy_server.stages import Stages, Stopwatch
from policy_server.temporal_ratio import temporal_ratio
from policy_server.text import TextContexts


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Normalised rows and how they came about."""

    rows: NDArray
    """(H, 14), prefix included."""
    reading: TemporalRatio
    """Of the conditional branch, unguided."""
    scales: GuidanceScales
    """As TR and mode set them, whether or not every branch could run."""
    choice: Choice


class GuidedPolicy:
    """Question -> Answer."""

    def __init__(self, manifest: BundleManifest, stages: Stages, texts: TextContexts) -> None:
        self._manifest = manifest
        self._settings = manifest.guidance
        self._reads_once = manifest.head.masses_from == "context"
        if "masses" not in stages.engine.outputs(manifest.head.masses_from):
            raise EngineError(
                f"outputs of {manifest.head.masses_from}",
                expected="masses, as head.masses_from in policy.toml says",
                got=", ".join(stages.engine.outputs(manifest.head.masses_from)),
                remedy="export the bundle again with this release",
            )
        self._computation = computations(manifest, stages, texts)

    def answer(self, question: Question, rules: Rules, watch: Stopwatch) -> Answer:
        """Raises `EngineError` naming the stage when the engine gives what is no answer."""
        known = rules.known_scales(self._settings)
        choice = None if known is None else rules.choose(known, rules.costs.first_ns)
        work = self._computation(question)
        work.see(("full", *(choice.extras if choice else ())), watch)
        watch.stage("video")
        masses = work.read(watch)
        watch.stage("context")
        first = None if self._reads_once else work.integrate((), ZERO, watch)
        watch.stage("head")
        reading = self._reading(masses if first is None else first.masses, len(question.prefix))
        watch.stage("temporal_ratio")
        scales = rules.scales(reading.rank, self._settings)
        choice = choice or rules.choose(scales, rules.costs.after_reading_ns)
        watch.stage("scales")
        if choice.extras:
            rows = _guided(work, choice.extras, scales, watch)
        else:
            rows = (first or work.integrate((), ZERO, watch)).rows
            watch.stage("head")
        return Answer(rows, reading, scales, choice)

    def _reading(self, masses: NDArray | None, prefix_length: int) -> TemporalRatio:
        if masses is None:
            raise EngineError("context", expected="masses", got="none", remedy="export the bundle again")
        video = self._manifest.video
        return temporal_ratio(
            masses, prefix_length, video.tokens_per_frame, video.future_tokens, self._manifest.tr_calibration
        )


def _guided(work: Computation, extras: Extras, scales: GuidanceScales, watch: Stopwatch) -> NDArray:
    """Rows (H, 14) of pass 2: all branches in one batch."""
    work.see(extras, watch)
    watch.stage("guided_video")
    work.read_more(extras, watch)
    watch.stage("guided_context")
    rows = work.integrate(extras, scales, watch).rows
    watch.stage("guided_head")
    return rows
