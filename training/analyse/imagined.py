"""Lines of `imagined.jsonl`: what was imagined on a held-out pair, and what was done."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contract.errors import ConfigurationError
from training.analyse.cell import IMAGINED


class Imagined(BaseModel):
    """One trial, as judged by a person or by a program that the folder's about.toml names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    split: Literal["id", "ood"] = "ood"
    object: str
    receptacle: str
    seed: int
    imagined_right: bool | None
    """None: fewer than two objects or receptacles to choose from."""
    executed_right: bool
    chunks: Annotated[int, Field(ge=1, le=10)]
    film: str | None = None
    object_imagined: str | None = None
    """Which object the imagined picture shows being taken, of those an arm can take; None: not told apart."""
    receptacle_imagined: str | None = None
    """Which receptacle it is carried to, of those the arm reaches."""
    objects: int = 0
    """How many there were to choose from."""
    receptacles: int = 0


def read_imagined(folder: Path) -> list[Imagined]:
    """All lines under a folder. Raises `ConfigurationError` naming file and line."""
    found = []
    for path in sorted(folder.rglob(IMAGINED)):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                found.append(Imagined.model_validate_json(line))
            except ValidationError as error:
                fault = error.errors(include_url=False)[0]
                raise ConfigurationError(f"{path}, line {number}", expected=fault["msg"], got=line[:200]) from error
    return found
