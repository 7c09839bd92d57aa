"""A replan on an engine that runs whole loops on its device: features and context never come to the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from numpy.typing import NDArray

from contract.types import Branch, GuidanceScales
from policy_server.flow import FlowResult
from policy_server.question import Question
from policy_server.stages import Stopwatch
from policy_server.text import TextContexts

SCALE_OF: Mapping[Branch, str] = {"nolang": "lang", "noplan": "plan"}


class LoopRunner(Protocol):
    """The loops of one engine. One replan at a time; `begin` starts it."""

    def begin(self, question: Question) -> None:
        """Take what all branches share."""

    def see(self, texts: Mapping[Branch, NDArray]) -> None:
        """Video features for texts (1, L, Dt) of "full", "nolang" or both, in one batch."""

    def read(self, branches: Sequence[Branch]) -> NDArray | None:
        """The head's context of "full", or of further branches behind it.

        Masses (1, 1, heads, H, 2) of "full" from a head that gives them here. Raises `EngineError` naming graph and
        step for anything that is not finite, here or in what `see` ran.
        """

    def integrate(self, weights: Sequence[float]) -> FlowResult:
        """Rows of "full" and as many further branches as there are weights, in one batch; errors as `read`."""


@runtime_checkable
class HasLoops(Protocol):
    """An engine that runs whole loops."""

    @property
    def loops(self) -> LoopRunner:
        """Its loops."""


class WholeLoops:
    """`Computation` of one question on a `LoopRunner`."""

    def __init__(self, question: Question, runner: LoopRunner, texts: TextContexts) -> None:
        self._question, self._runner, self._texts = question, runner, texts
        self._seen: set[Branch] = set()
        self._begun = False

    def see(self, branches: Sequence[Branch], watch: Stopwatch) -> None:
        """Run the video loop for those of `branches` that need one and have none yet."""
        new = [branch for branch in branches if branch != "noplan" and branch not in self._seen]
        if not new:
            return
        texts: dict[Branch, NDArray] = {
            branch: self._question.text if branch == "full" else self._texts.null(watch) for branch in new
        }
        watch.engine(lambda: self._see(texts))
        self._seen.update(new)

    def read(self, watch: Stopwatch) -> NDArray | None:
        """The context of "full"; its masses, if the head gives them here."""
        return watch.engine(lambda: self._runner.read(("full",)))

    def read_more(self, extras: Sequence[Branch], watch: Stopwatch) -> None:
        """The context of further branches."""
        watch.engine(lambda: self._runner.read(extras))

    def integrate(self, extras: Sequence[Branch], scales: GuidanceScales, watch: Stopwatch) -> FlowResult:
        """Rows of "full" and `extras` at these scales."""
        weights = [float(getattr(scales, SCALE_OF[branch])) for branch in extras]
        return watch.engine(lambda: self._runner.integrate(weights))

    def _see(self, texts: Mapping[Branch, NDArray]) -> None:
        if not self._begun:
            self._runner.begin(self._question)
            self._begun = True
        self._runner.see(texts)
