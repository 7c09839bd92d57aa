"""A replan on an engine that runs one graph at a time: the host holds features and context and steps the loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.typing import NDArray

from contract.types import Branch, GuidanceScales
from policy_server.flow import ActionFlow, FlowResult
from policy_server.head import HeadContexts
from policy_server.question import Question
from policy_server.sight import Sight
from policy_server.stages import Stopwatch


class StepByStep:
    """`Computation` of one question on the graphs of an engine."""

    def __init__(self, question: Question, sight: Sight, contexts: HeadContexts, flow: ActionFlow) -> None:
        self._question, self._sight, self._contexts, self._flow = question, sight, contexts, flow
        self._full: dict[str, NDArray] = {}
        self._all: Mapping[str, NDArray] = {}

    def see(self, branches: Sequence[Branch], watch: Stopwatch) -> None:
        """Run the video model for those of `branches` that need it and have no features yet."""
        self._sight.add(branches, watch)

    def read(self, watch: Stopwatch) -> NDArray | None:
        """The context of "full"; its masses, if the head gives them here."""
        self._all = self._full = self._contexts.run(("full",), self._sight, self._question.state, watch)
        return self._full.get("masses")

    def read_more(self, extras: Sequence[Branch], watch: Stopwatch) -> None:
        """The context of further branches, stacked behind that of "full"."""
        self._all = self._contexts.extend(self._full, extras, self._sight, self._question.state, watch)

    def integrate(self, extras: Sequence[Branch], scales: GuidanceScales, watch: Stopwatch) -> FlowResult:
        """Rows of "full" and `extras` at these scales."""
        start = self._question.action_noise, self._question.prefix
        return self._flow.run(self._all, ("full", *extras), start, scales, watch)
