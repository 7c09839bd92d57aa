"""Computation: what video model and head compute of one question, and which of its two kinds an engine gets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from numpy.typing import NDArray

from contract.manifest import BundleManifest
from contract.types import Branch, GuidanceScales
from policy_server.flow import ActionFlow, FlowResult
from policy_server.head import HeadContexts
from policy_server.question import Question
from policy_server.sight import Sight
from policy_server.stages import Stages, Stopwatch
from policy_server.step_by_step import StepByStep
from policy_server.text import TextContexts
from policy_server.video import VideoModel
from policy_server.whole_loops import HasLoops, WholeLoops


class Computation(Protocol):
    """The heavy part of one replan, in the order `see`, `read`, `integrate`, and once more for further branches.

    Every method raises `EngineError` naming graph and step when the engine fails or gives what is not finite.
    """

    def see(self, branches: Sequence[Branch], watch: Stopwatch) -> None:
        """Video features of those of `branches` that have none yet."""

    def read(self, watch: Stopwatch) -> NDArray | None:
        """The head's context of "full"; masses (1, 1, heads, H, 2), if the head gives them here."""

    def read_more(self, extras: Sequence[Branch], watch: Stopwatch) -> None:
        """The head's context of further branches; that of "full" is kept."""

    def integrate(self, extras: Sequence[Branch], scales: GuidanceScales, watch: Stopwatch) -> FlowResult:
        """All flow steps of "full" and `extras` in one batch; without extras from the context of "full" alone."""


def computations(manifest: BundleManifest, stages: Stages, texts: TextContexts) -> Callable[[Question], Computation]:
    """How questions are computed on this engine: in whole loops if it has them, else graph by graph."""
    engine = stages.engine
    if isinstance(engine, HasLoops):
        runner = engine.loops
        return lambda question: WholeLoops(question, runner, texts)
    video, contexts = VideoModel(manifest.video, stages), HeadContexts(stages)
    flow = ActionFlow(stages, manifest.head.flow_steps)
    return lambda question: StepByStep(question, Sight(question, video, texts), contexts, flow)
