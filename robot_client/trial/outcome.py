"""outcome.json beside the bag of a run: that it counts, and how it went. It does not say which method ran."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from contract.server_info import Strict
from robot_client.trial.errors import TrialError

NAME: Final = "outcome.json"
EPISODES: Final = "episodes"


class Outcome(Strict):
    """How one run of a trial went."""

    trial: str
    run: Annotated[int, Field(ge=0)]
    round: Annotated[int, Field(ge=0)]
    seed: Annotated[int, Field(ge=0)]
    instruction: str
    success: bool
    judge: Literal["twin", "operator"]
    seconds: Annotated[float, Field(ge=0.0)]
    """From engagement to the verdict."""
    stopped: str = ""
    """Mode and reason when the loop stopped by itself; that is no success."""
    complete: bool
    """Nothing is missing from the bag."""


def write_outcome(episode: Path, outcome: Outcome) -> None:
    """Raises `TrialError` when the episode has one already: nothing is ever written over."""
    try:
        with (episode / NAME).open("x", encoding="utf-8") as file:
            file.write(outcome.model_dump_json(indent=1) + "\n")
    except OSError as error:
        raise TrialError(f"outcome of {episode}", expected="a new file", got=error.strerror) from error


def outcomes_in(folder: Path, trial_id: str) -> dict[int, tuple[Path, Outcome]]:
    """Run number -> episode folder and outcome. Episodes without one were broken off and do not count.

    Raises `TrialError` for an outcome of another trial, or two of one run.
    """
    found: dict[int, tuple[Path, Outcome]] = {}
    for path in sorted((folder / EPISODES).glob(f"*/{NAME}")):
        outcome = _read(path)
        if outcome.trial != trial_id:
            raise TrialError(f"{path}", expected=f"a run of trial {trial_id}", got=f"one of {outcome.trial}")
        if outcome.run in found:
            raise TrialError(
                f"{path}", expected="one outcome a run", got=f"another of run {outcome.run} in {found[outcome.run][0]}"
            )
        found[outcome.run] = (path.parent, outcome)
    return found


def _read(path: Path) -> Outcome:
    try:
        return Outcome.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise TrialError(f"{path}", expected="an outcome", got=str(error).splitlines()[0]) from error
