"""TR, guidance and the two passes of the head. PAPER.md, "TR-Adaptive Guidance".

Pass 1 runs the conditional branch through all flow steps; its masses give TR, TR gives the scales. When no other branch
is to run its rows are the answer, bit for bit. Otherwise pass 2 runs all branches in one batch from the same noise, on
the features and context that pass 1 computed for the conditional one. A head whose masses come with its context
(read-once) has its TR before the first flow step and needs no pass 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from numpy.typing import NDArray

from contract.errors import EngineError
from contract.manifest import BundleManifest
from contract.types import Branch, GuidanceScales, TemporalRatio
from policy_server.budget import Choice
from policy_server.flow import ActionFlow, FlowResult
from policy_server.guidance import ZERO
from policy_server.head import HeadContexts
from policy_server.question import Question
from policy_server.rules import Rules
from policy_server.sight import Sight
from policy_server.stages import Stages, Stopwatch
from policy_server.temporal_ratio import temporal_ratio
from policy_server.text import TextContexts
from policy_server.video import VideoModel


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
        self._texts = texts
        if "masses" not in stages.engine.outputs(manifest.head.masses_from):
            raise EngineError(
                f"outputs of {manifest.head.masses_from}",
                expected="masses, as head.masses_from in policy.toml says",
                got=", ".join(stages.engine.outputs(manifest.head.masses_from)),
                remedy="export the bundle again with this release",
            )
        self._video = VideoModel(manifest.video, stages)
        self._contexts = HeadContexts(stages)
        self._flow = ActionFlow(stages, manifest.head.flow_steps)

    def answer(self, question: Question, rules: Rules, watch: Stopwatch) -> Answer:
        """Raises `EngineError` naming the stage when the engine gives what is no answer."""
        known = rules.known_scales(self._settings)
        choice = None if known is None else rules.choose(known, rules.costs.first_ns)
        sight = Sight(question, self._video, self._texts)
        sight.add(("full", *(choice.extras if choice else ())), watch)
        watch.stage("video")
        full = self._contexts.run(("full",), sight, question.state, watch)
        watch.stage("context")
        first = None if self._reads_once else self._integrate(question, full, ("full",), ZERO, watch)
        watch.stage("head")
        reading = self._read(full if first is None else first, len(question.prefix))
        watch.stage("temporal_ratio")
        scales = rules.scales(reading.rank, self._settings)
        choice = choice or rules.choose(scales, rules.costs.after_reading_ns)
        watch.stage("scales")
        if choice.extras:
            rows = self._guided(question, full, sight, (scales, choice), watch)
        else:
            rows = (first or self._integrate(question, full, ("full",), ZERO, watch)).rows
            watch.stage("head")
        return Answer(rows, reading, scales, choice)

    def _guided(
        self,
        question: Question,
        full: Mapping[str, NDArray],
        sight: Sight,
        decision: tuple[GuidanceScales, Choice],
        watch: Stopwatch,
    ) -> NDArray:
        """Rows (H, 14) of pass 2: all branches in one batch."""
        scales, choice = decision
        sight.add(choice.extras, watch)
        watch.stage("guided_video")
        context = self._contexts.extend(full, choice.extras, sight, question.state, watch)
        watch.stage("guided_context")
        rows = self._integrate(question, context, ("full", *choice.extras), scales, watch).rows
        watch.stage("guided_head")
        return rows

    def _integrate(
        self,
        question: Question,
        context: Mapping[str, NDArray],
        branches: tuple[Branch, ...],
        scales: GuidanceScales,
        watch: Stopwatch,
    ) -> FlowResult:
        return self._flow.run(context, branches, (question.action_noise, question.prefix), scales, watch)

    def _read(self, source: Mapping[str, NDArray] | FlowResult, prefix_length: int) -> TemporalRatio:
        masses = source.masses if isinstance(source, FlowResult) else source["masses"]
        video = self._manifest.video
        return temporal_ratio(
            masses, prefix_length, video.tokens_per_frame, video.future_tokens, self._manifest.tr_calibration
        )
