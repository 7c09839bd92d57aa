"""The acceptance test: an engine answers as the fp32 reference does, or it is not served (B44)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from contract.errors import BundleError, EngineError
from contract.manifest import BundleManifest
from contract.types import ActionChunk, GuidanceScales
from policy_server.compiled.record import Acceptance
from policy_server.engines.base import Engine
from policy_server.policy import Policy
from policy_server.verify.observations import Question
from policy_server.verify.watched_engine import WatchedEngine, first_parting
from policy_server.whole_loops import HasLoops

WORST_ROW: Final = 0.01
"""rad (and share of the gripper's opening): largest allowed difference of a de-normalised row."""
WORST_TR: Final = 0.01
"""Largest allowed relative difference of TR."""
SCALES: Final = GuidanceScales(1.0, 1.0)
"""Every branch is run, so that a batch of three is accepted too."""

Say = Callable[[str], None]


class Comparison:
    """One engine beside the reference, question by question."""

    def __init__(self, manifest: BundleManifest, engine: Engine, reference: Engine) -> None:
        self._mine, self._other = WatchedEngine(engine), WatchedEngine(reference)
        guided = any(null in manifest.guidance.trained_nulls for null in ("language", "future"))
        self._scales = (GuidanceScales(0.0, 0.0), SCALES) if guided else (GuidanceScales(0.0, 0.0),)
        self._policies = Policy(manifest, self._mine), Policy(manifest, self._other)
        # Whole loops are what such an engine serves; its single steps then say where they part.
        self._loops = Policy(manifest, engine) if isinstance(engine, HasLoops) else None
        self.worst_row = self.worst_tr = 0.0

    def ask(self, question: Question) -> str:
        """What is wrong with the engine's answer; empty when it is accepted."""
        for scales in self._scales:
            fault = self._ask(question, scales)
            if fault:
                return f"{question.name}, {len(self._mine.calls)} calls: {fault}"
        return ""

    def _ask(self, question: Question, scales: GuidanceScales) -> str:
        self._mine.forget()
        self._other.forget()
        wanted = self._policies[1].replan_forced(question.observation, scales)
        try:
            got = (self._loops or self._policies[0]).replan_forced(question.observation, scales)
        except EngineError as error:
            return str(error)
        row, ratio = _differences(got, wanted)
        self.worst_row, self.worst_tr = max(self.worst_row, row), max(self.worst_tr, ratio)
        if row <= WORST_ROW and ratio <= WORST_TR:
            return ""
        what = f"rows differ by {row:.3g} rad" if row > WORST_ROW else f"TR differs by {ratio:.2%}"
        if self._loops is not None:
            self._policies[0].replan_forced(question.observation, scales)
        return f"{what}; {first_parting(self._mine.calls, self._other.calls)}"


def accept(
    manifest: BundleManifest, engine: Engine, reference: Engine, asked: Sequence[Question], say: Say
) -> Acceptance:
    """Ask both engines everything. The verdict names the first question, stage and step that failed."""
    if not asked:
        raise BundleError("acceptance", expected="questions", got="none", remedy="give observations")
    comparison = Comparison(manifest, engine, reference)
    faults = [fault for question in asked if (fault := comparison.ask(question))]
    for fault in faults:
        say(f"FAIL {fault}")
    verdict = "equal within limits" if not faults else f"{len(faults)} of {len(asked)} failed, first {faults[0]}"
    return Acceptance(
        passed=not faults,
        reference=reference.id,
        observations=len(asked),
        worst_row=comparison.worst_row,
        worst_tr=comparison.worst_tr,
        said=verdict,
    )


def _differences(got: ActionChunk, wanted: ActionChunk) -> tuple[float, float]:
    row = float(np.max(np.abs(np.asarray(got.rows, np.float64) - wanted.rows), initial=0.0))
    mine, other = got.temporal_ratio.value, wanted.temporal_ratio.value
    return row, abs(mine - other) / max(abs(other), 1e-9)
