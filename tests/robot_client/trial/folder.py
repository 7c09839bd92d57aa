"""Trials in a folder, with bags made by the real recorder and no process."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from pathlib import Path

from contract.messages import Welcome
from contract.server_info import ServerInfo
from robot_client.trial.outcome import EPISODES, Outcome, write_outcome
from robot_client.trial.plan import Identity, PlannedRun, Question, Trial, new_trial, write_trial
from tests.robot_client.episodes.made import Recording, answer_to, observation
from tests.robot_client.stage import STATION, info

STATION_SHA = hashlib.sha256(STATION.model_dump_json().encode()).hexdigest()


def question(**changes: object) -> Question:
    """Two methods on three layouts of the twin."""
    values = {"rig": "sim", "station": "twin", "methods": ("off", "adaptive"), "rounds": 3, "seconds": 5.0, "seed": 40}
    return Question.model_validate({**values, "instruction": "", **changes})


def identity(server: ServerInfo | None = None) -> Identity:
    """Of the policy that `tests.robot_client.stage` scripts, on the twin's station."""
    server = server or info()
    return Identity(
        model_id=server.model_id,
        weights_hash=server.weights_hash,
        engine_id=server.engine_id,
        station_sha256=STATION_SHA,
    )


def trial_in(folder: Path, seed: int = 1, **changes: object) -> Trial:
    """A new trial, its order drawn from `seed`."""
    trial = new_trial(question(**changes), identity(), random.Random(seed))
    write_trial(folder, trial)
    return trial


def episode_of(folder: Path, trial: Trial, run: PlannedRun, ratio: float, server: ServerInfo | None = None) -> Path:
    """The bag of a run with three replans around a Temporal Ratio."""
    facts = {"trial": trial.id, "trial_run": str(run.number), "guidance": run.method}
    made = Recording(folder / EPISODES, **facts, seed=str(run.seed), rig="sim")
    made.planner(Welcome(server or info()))
    for sequence, offset in enumerate((-0.1, 0.0, 0.2)):
        asked = observation(sequence, made.clock.now_ns())
        made.planner(replace(answer_to(asked), tr_value=ratio + offset))
    made.ticks(20)
    assert made.close().complete
    return made.folder


def outcome_of(trial: Trial, run: PlannedRun, success: bool) -> Outcome:
    """The twin's verdict after 3 s."""
    return Outcome(
        trial=trial.id, run=run.number, round=run.round, seed=run.seed, instruction="go", success=success,
        judge="twin", seconds=3.0, complete=True,
    )  # fmt: skip


def finish(folder: Path, trial: Trial, server: ServerInfo | None = None) -> None:
    """All runs: adaptive always succeeds with ratio 2, off only on the first layout, with ratio 1."""
    for run in trial.runs():
        success = run.method == "adaptive" or run.round == 0
        episode = episode_of(folder, trial, run, 2.0 if run.method == "adaptive" else 1.0, server)
        write_outcome(episode, outcome_of(trial, run, success))
