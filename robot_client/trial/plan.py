"""trial.json: what a trial is, fixed before its first run."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from contract.errors import ConfigurationError
from contract.server_info import Strict
from contract.types import GUIDANCE_MODES, GuidanceMode
from robot_client.process_config import RigKind
from robot_client.trial.errors import TrialError
from robot_client.trial.sealed import seal, unseal

NAME: Final = "trial.json"


class Question(Strict):
    """What is compared, and on what."""

    rig: RigKind
    station: Annotated[str, Field(min_length=1)]
    methods: Annotated[tuple[GuidanceMode, ...], Field(min_length=2)]
    rounds: Annotated[int, Field(ge=1, le=10_000)]
    """Layouts; on each of them every method runs once."""
    seconds: Annotated[float, Field(ge=1.0, le=3600.0)]
    seed: Annotated[int, Field(ge=0, lt=2**31)]
    """Layout and noise of round r are those of seed + r, for all its methods."""
    instruction: str
    """Empty on the twin: what each layout is about."""


class Identity(Strict):
    """What must stay the same through a trial."""

    model_id: str
    weights_hash: str
    engine_id: str
    station_sha256: str


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of a trial."""

    number: int
    round: int
    seed: int
    method: GuidanceMode


class Trial(Strict):
    """The whole file."""

    format: Literal[1] = 1
    id: str
    question: Question
    identity: Identity
    sealed_order: str
    order_sha256: str

    def runs(self) -> list[PlannedRun]:
        """All runs in their order. Breaks no blinding by itself; whoever prints a method does."""
        order = unseal(self.sealed_order, self.order_sha256, self.id)
        named = [(number, method) for number, methods in enumerate(order) for method in methods]
        return [
            PlannedRun(number, round_number, self.question.seed + round_number, _method(method))
            for number, (round_number, method) in enumerate(named)
        ]


def new_trial(question: Question, identity: Identity, chooser: random.Random | None = None) -> Trial:
    """A trial whose order is drawn now: the methods of each round shuffled, so that drift hits all of them alike."""
    chooser, trial_id = chooser or random.SystemRandom(), secrets.token_hex(8)
    order = [chooser.sample(question.methods, len(question.methods)) for _ in range(question.rounds)]
    text, digest = seal(order, trial_id)
    return Trial(id=trial_id, question=question, identity=identity, sealed_order=text, order_sha256=digest)


def write_trial(folder: Path, trial: Trial) -> None:
    """Writes the file of a new trial. Raises `TrialError` when there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with (folder / NAME).open("x", encoding="utf-8") as file:
            file.write(trial.model_dump_json(indent=1) + "\n")
    except FileExistsError as error:
        raise TrialError(f"{folder}", expected="no trial yet", got="one", remedy="choose another folder") from error


def read_trial(folder: Path) -> Trial:
    """Raises `TrialError` when there is none or it is broken."""
    try:
        trial = Trial.model_validate_json((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise TrialError(f"{folder}", expected=f"a trial ({NAME})", got="none", remedy="check the folder") from error
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in fault["loc"])
        raise TrialError(f"{folder / NAME}: {key}", expected=fault["msg"], got="a broken file") from error
    trial.runs()
    return trial


def checked_methods(text: str) -> tuple[GuidanceMode, ...]:
    """ "off,constant" -> methods. Raises `ConfigurationError` for unknown or repeated ones, or fewer than two."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if len(names) < 2 or len(set(names)) < len(names) or not set(names) <= set(GUIDANCE_MODES):
        raise ConfigurationError(
            "methods", expected=f"two or more different ones of {', '.join(GUIDANCE_MODES)}", got=text
        )
    return tuple(_method(name) for name in names)


def differences(asked: Question, there: Question) -> Sequence[str]:
    """Names of what is not the same."""
    return [name for name in Question.model_fields if getattr(asked, name) != getattr(there, name)]


def _method(name: str) -> GuidanceMode:
    for mode in GUIDANCE_MODES:
        if mode == name:
            return mode
    raise TrialError("method", expected=", ".join(GUIDANCE_MODES), got=name)
