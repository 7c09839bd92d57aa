"""What the bag of a run says of itself, checked against the trial: nothing is believed from the outcome alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from contract.errors import EpisodeError
from contract.server_info import ServerInfo
from contract.station import Station
from robot_client.episodes.channels import ANSWER
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.reader import BagReader
from robot_client.trial.errors import TrialError
from robot_client.trial.outcome import Outcome
from robot_client.trial.plan import Identity, PlannedRun, Trial

_WHAT: Final = {"model_id": "policy", "weights_hash": "policy's weights", "engine_id": "engine"}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One counted run."""

    run: PlannedRun
    outcome: Outcome
    median_tr: float
    """Over the replans of the run; NaN without any."""
    replans: int


def evidence_of(episode: Path, outcome: Outcome, trial: Trial) -> Evidence:
    """Reads the bag once. Raises `TrialError` when it is of another trial, run, method, policy or station."""
    reader, decode = BagReader(episode, tolerant=True), Decoder()
    ratios = [float(json.loads(decode(message).data)["tr_value"]) for message in reader.messages((ANSWER,))]
    run = trial.runs()[outcome.run]
    _require_run(episode, reader.notes.get("episode", {}), trial, run)
    for name, here in _identity(episode, reader.notes).model_dump().items():
        _require(episode, _WHAT.get(name, "station"), getattr(trial.identity, name), here)
    return Evidence(run, outcome, float(np.median(ratios)) if ratios else float("nan"), len(ratios))


def _require_run(episode: Path, facts: dict[str, str], trial: Trial, run: PlannedRun) -> None:
    for name, expected in (
        ("trial", trial.id),
        ("trial_run", str(run.number)),
        ("guidance", run.method),
        ("seed", str(run.seed)),
        ("rig", trial.question.rig),
    ):
        _require(episode, name, expected, facts.get(name, "nothing"))


def _identity(episode: Path, notes: dict[str, dict[str, str]]) -> Identity:
    try:
        info = ServerInfo.model_validate_json(notes["policy"]["server_info"])
        station = Station.model_validate_json(notes["station"]["json"])
    except (KeyError, ValueError) as error:
        raise EpisodeError(f"{episode}", expected="policy and station in its records", got=str(error)[:200]) from error
    return Identity(
        model_id=info.model_id,
        weights_hash=info.weights_hash,
        engine_id=info.engine_id,
        station_sha256=hashlib.sha256(station.model_dump_json().encode()).hexdigest(),
    )


def _require(episode: Path, what: str, expected: str, got: str) -> None:
    if expected != got:
        raise TrialError(
            f"{episode.name}: {what}",
            expected=expected,
            got=got,
            remedy="runs of different policies, stations or trials are not put together",
        )
