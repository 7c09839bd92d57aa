"""Trials of a bundle under several futures, written line by line, so that what was tried is not tried again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from contract.layout import JOINT_MASK
from contract.types import ActionChunk, GuidanceMode, Observation
from policy_server.policy import Policy
from robot_client.twin.cameras import Size
from robot_client.twin.tasks import Task
from robot_client.twin.twin import Twin, make_twin
from training.evaluate.client_rollout import SimulatedClient
from training.evaluate.futures import AlteredEngine, Future, FutureBank, masked
from training.evaluate.outcome_file import fill
from training.evaluate.rewording import RewordedEngine, another_task
from training.evaluate.rollout import Outcome, Probe, run_trial
from training.evaluate.subject import Subject
from training.evaluate.suite import Trial, trials

_BANK_SEED, _BANK_PER_PAIR = 900_000, 1


class Evaluation:
    """One bundle or checkpoint, one twin, one thread."""

    def __init__(self, subject: Subject, rotation: int, say: Callable[[str], None] = print) -> None:
        self.subject = subject
        self._manifest, self._engine = self.subject.manifest, self.subject.engine
        self._rotation, self._say = rotation, say
        self._bank = FutureBank(self._manifest.video.tokens_per_frame)
        self._banked = False
        self._reworded = RewordedEngine(self._engine, self._manifest)
        self.twin: Twin = make_twin({v.role: Size(v.width, v.height) for v in self._manifest.canvas.views})

    def run(
        self,
        future: Future,
        chosen: Sequence[Trial],
        out: Path,
        guidance: GuidanceMode = "off",
        w_max: float | None = None,
        probe: bool = False,
        client: bool = False,
    ) -> list[dict]:
        """Outcomes of the trials under one future; those already in the file `out` are read from it.

        `w_max`: both largest scales of guidance instead of the bundle's. `probe`: note at each replan what masking and
        swapping its future would change.
        `client`: through the robot client's own loop and safety (training.evaluate.client_rollout).
        """
        policy = self.policy(future, w_max)
        probing = self.probe() if probe else None

        def attempt(trial: Trial) -> Outcome:
            self._bank.start(trial.task.instruction, trial.seed)
            if client:
                return self._client(policy, guidance).run(trial)
            return run_trial(policy, self.twin, trial, guidance, probing, self._imagined(future, trial))

        return fill(out, chosen, attempt, f"trials, future {future}, guidance {guidance}", self._say)

    def close(self) -> None:
        """Give up engine and pictures."""
        self._engine.close()
        self.twin.close()

    def policy(self, future: Future, w_max: float | None = None) -> Policy:
        """The served policy with its future kept, masked, swapped, moved or reworded."""
        manifest = self._manifest
        if w_max is not None:
            scales = {"w_lang_max": w_max, "w_plan_max": w_max}
            manifest = manifest.model_copy(update={"guidance": manifest.guidance.model_copy(update=scales)})
        if future == "kept":
            return Policy(manifest, self._engine)
        if future == "masked":
            return Policy(manifest, AlteredEngine(self._engine, masked))
        if future == "reworded":
            return Policy(manifest, self._reworded)
        self._fill_bank()
        alter = self._bank.swap if future == "swapped" else self._bank.move
        return Policy(manifest, AlteredEngine(self._engine, alter))

    def _imagined(self, future: Future, trial: Trial) -> Task | None:
        """The job that is imagined instead, told to the engine; None unless the future is reworded."""
        if future != "reworded":
            return None
        other = another_task(trial, self._rotation)
        self._reworded.say(other.instruction)
        return other

    def _client(self, policy: Policy, guidance: GuidanceMode) -> SimulatedClient:
        return SimulatedClient(self.twin, policy.info("READY"), lambda asked: policy.replan(asked, lambda: 0), guidance)

    def probe(self) -> Probe:
        """Asks the same question with the future kept, masked and swapped, unguided, and compares the joint rows."""
        kept, wrong = self.policy("kept"), (self.policy("masked"), self.policy("swapped"))

        def effects(question: Observation, answer: ActionChunk) -> tuple[float, float]:
            plain = replace(question, guidance="off")
            rows = (answer if question.guidance == "off" else kept.replan(plain, lambda: 0)).rows
            masked_by, swapped_by = (np.abs(policy.replan(plain, lambda: 0).rows - rows) for policy in wrong)
            return float(masked_by[:, JOINT_MASK].mean()), float(swapped_by[:, JOINT_MASK].mean())

        return effects

    def _fill_bank(self) -> None:
        """Collect the futures of one kept episode of every pair, on layouts of their own."""
        if self._banked:
            return
        policy = Policy(self._manifest, AlteredEngine(self._engine, self._bank.collect))
        for trial in trials(self._rotation, _BANK_PER_PAIR, _BANK_SEED):
            self._bank.start(trial.task.instruction, trial.seed)
            run_trial(policy, self.twin, trial)
        self._banked = True
