"""The runs of a trial that are still to be done, one after the other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from contract.errors import ConfigurationError, StackError
from contract.station import load_station
from robot_client.demo.interrupt import Interrupt
from robot_client.demo.settings import RunSettings
from robot_client.episodes.policy_server import linked
from robot_client.trial.attempt import Attempt, Ended, settled
from robot_client.trial.errors import TrialError
from robot_client.trial.keys import HELP, Keys
from robot_client.trial.opened import is_opened
from robot_client.trial.outcome import EPISODES, Outcome, outcomes_in, write_outcome
from robot_client.trial.plan import Identity, PlannedRun, Question, Trial
from robot_client.twin.layouts import make_layout

_MOST_TYPED: Final = 1000
_MOST_BROKEN: Final = 3
"""Runs in a row that did not come to a verdict, after which something is wrong that going on will not mend."""


@dataclass(frozen=True, slots=True)
class Conductor:
    """Knows the folder and the server. `say` prints a line for the operator."""

    folder: Path
    trial: Trial
    server: str
    keys_folder: Path | None
    keys: Keys
    say: Callable[[str], None]

    def run(self, interrupt: Interrupt) -> bool:
        """Do what is left; whether all runs are done. Raises `TrialError` when the server or station is another one."""
        if is_opened(self.folder):
            raise TrialError(
                f"{self.folder}", expected="a sealed trial", got="one whose order was shown", remedy="begin another"
            )
        self._require_same()
        left = [run for run in self.trial.runs() if run.number not in outcomes_in(self.folder, self.trial.id)]
        total, broken = len(self.trial.runs()), 0
        while left and not interrupt.asked:
            run = left[0]
            self.say(f"run {run.number + 1} of {total}: layout {run.round + 1}, {instruction_of(run, self.trial)!r}")
            ended = self._attempt(run, interrupt)
            if ended is None or ended.broken_off:
                broken += 1
                self._say_broken(broken)
                continue
            self._keep(run, ended)
            broken = 0
            left.pop(0)
        return not left

    def _require_same(self) -> None:
        identity = identity_of(self.server, self.trial.question.station, self.keys_folder)
        for name in Identity.model_fields:
            if getattr(identity, name) != getattr(self.trial.identity, name):
                raise TrialError(
                    name.replace("_", " "),
                    expected=getattr(self.trial.identity, name),
                    got=getattr(identity, name),
                    remedy="a trial is done with one policy on one station; begin another",
                )

    def _attempt(self, run: PlannedRun, interrupt: Interrupt) -> Ended | None:
        """None after trouble, which is said; an episode of it stays, without an outcome."""
        if self.trial.question.rig == "yam":
            self.say(f"set up layout {run.round + 1}, then press any key but space; {HELP}")
            self._forget_keys()
            while not interrupt.asked and self.keys.pressed(0.1) in ("", " "):  # space stops, here too
                pass
        try:
            ended = Attempt(self._settings(run), interrupt, self.keys).run()
        except StackError as error:
            self.say(str(error))
            return None
        return settled(ended, self.keys, interrupt, self.say, judges_itself=self.trial.question.rig == "sim")

    def _forget_keys(self) -> None:
        """What was typed before the question is no answer to it: hands may still be among the arms."""
        for _ in range(_MOST_TYPED):
            if not self.keys.pressed():
                return

    def _say_broken(self, broken: int) -> None:
        if broken >= _MOST_BROKEN:
            raise TrialError(
                "trial", expected="runs that come to a verdict", got=f"{broken} in a row that did not",
                remedy=f"see {self.folder / 'logs'}; started again, the trial goes on where it is",
            )  # fmt: skip
        self.say("broken off; it will be repeated")

    def _keep(self, run: PlannedRun, ended: Ended) -> None:
        outcome = Outcome(
            trial=self.trial.id,
            run=run.number,
            round=run.round,
            seed=run.seed,
            instruction=instruction_of(run, self.trial),
            success=bool(ended.success),
            judge="twin" if self.trial.question.rig == "sim" else "operator",
            seconds=ended.seconds,
            stopped=ended.stopped,
            complete=ended.complete,
        )
        write_outcome(ended.episode, outcome)
        stopped = f", stopped by itself ({ended.stopped})" if ended.stopped else ""
        bag = "" if ended.complete else "; its bag is INCOMPLETE"
        self.say(f"  {'success' if outcome.success else 'failure'} after {ended.seconds:.1f} s{stopped}{bag}")

    def _settings(self, run: PlannedRun) -> RunSettings:
        question = self.trial.question
        return RunSettings(
            rig=question.rig,
            station=question.station,
            bundle=None,
            server=self.server,
            instruction=instruction_of(run, self.trial),
            seconds=question.seconds,
            seed=run.seed,
            guidance=run.method,
            out=self.folder,
            headless=True,
            imagine_every_s=0.0,
            record=self.folder / EPISODES,
            keys=self.keys_folder,
            facts={"trial": self.trial.id, "trial_run": str(run.number), "trial_round": str(run.round)},
        )


def instruction_of(run: PlannedRun, trial: Trial) -> str:
    """What the policy is told in a run."""
    return trial.question.instruction or make_layout(run.seed, None).task.instruction


def identity_of(server: str, station: str, keys: Path | None) -> Identity:
    """Which policy answers at an address, and which station that is."""
    loaded = load_station(station)
    with linked(server, frozenset(camera.role for camera in loaded.cameras), keys) as (_, info):
        return Identity(
            model_id=info.model_id,
            weights_hash=info.weights_hash,
            engine_id=info.engine_id,
            station_sha256=hashlib.sha256(loaded.model_dump_json().encode()).hexdigest(),
        )


def question_of(
    rig: str, station: str, methods: tuple[str, ...], numbers: tuple[int, float, int], instruction: str
) -> Question:
    """A checked question; `numbers` are rounds, seconds, seed. Raises `ConfigurationError` naming what is wrong."""
    rounds, seconds, seed = numbers
    values = {"rig": rig, "station": station, "methods": methods, "instruction": instruction}
    try:
        return Question.model_validate({**values, "rounds": rounds, "seconds": seconds, "seed": seed})
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ConfigurationError(
            ".".join(str(part) for part in fault["loc"]), expected=fault["msg"], got=repr(fault.get("input"))[:100]
        ) from error
