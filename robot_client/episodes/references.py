"""Accepted answers to the observations of an episode, as a file that a person can read and a change of which shows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from contract.errors import EpisodeError
from robot_client.episodes.observations import observation_id
from robot_client.episodes.policy_replay import AskingLink, ask, question_of
from robot_client.episodes.replans import Answered, LoggedReplan, answered_of


def accept(
    path: Path, replans: Iterable[LoggedReplan], link: AskingLink, session: str, weights_hash: str
) -> dict[str, Answered]:
    """Ask everything and take the answers as the reference from now on."""
    answers = {}
    for replan in replans:
        observation = replan.observation
        if replan.answered is not None:
            name = observation_id(observation.session, observation.epoch, observation.sequence)
            answers[name] = ask(link, question_of(replan, session, None))
    content = {"weights_hash": weights_hash, "answers": {name: _plain(answer) for name, answer in answers.items()}}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return answers


def read_references(path: Path) -> tuple[str, Mapping[str, Answered]]:
    """Weights hash and answers by id. Raises `EpisodeError` when the file is none of ours."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        answers = {name: answered_of(fields["rows"], fields) for name, fields in content["answers"].items()}
        return str(content["weights_hash"]), answers
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EpisodeError(
            f"{path}", expected="a reference file", got=repr(error)[:200], remedy="make it with --accept"
        ) from error


def _plain(answer: Answered) -> dict[str, Any]:
    """float32 values survive JSON exactly."""
    return {
        "tr_value": answer.tr_value,
        "tr_density": answer.tr_density,
        "scale_lang": answer.scale_lang,
        "scale_plan": answer.scale_plan,
        "branches_run": list(answer.branches_run),
        "rows": [[float(value) for value in row] for row in answer.rows],
    }
