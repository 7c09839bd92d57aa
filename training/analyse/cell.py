"""What the outcomes in one file are: which policy, trained how, tried how."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contract.errors import ConfigurationError
from contract.toml import read_toml
from contract.types import GuidanceMode

ABOUT: Final = "about.toml"
IMAGINED: Final = "imagined.jsonl"
"""Imagined beside executed video; other lines than outcomes (training.analyse.imagined)."""
Use = Literal["headline", "rotation", "gate", "ablation", "guidance", "sweep", "choice", "earlier"]
"""What the outcomes may be counted for. headline: the policy that the page is about, with its sister seeds. rotation: a
policy of which other pairs were held out. gate: the policy that passed the gate. choice: settings were chosen with
them, so they prove nothing. earlier, or none: kept for the record only."""
_NAME: Final = re.compile(
    r"rotation(?P<rotation>\d)-(?P<future>[a-z]+)(-(?P<guidance>off|constant|adaptive|inverted)(-(?P<w_max>[0-9.]+))?)?(-(?P<through>client))?"
)


class Cell(BaseModel):
    """Facts about one file of outcomes; `about.toml` of its folder states them, the file's name some."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    policy: str
    """Name of the weights."""
    family: str = ""
    """What policies have in common that differ by training seed only; empty: the policy's name."""
    what: str = ""
    """One sentence for people."""
    use: tuple[Use, ...]
    head_seed: int
    """Training seed."""
    variant: Annotated[str, Field(pattern=r"^[a-z_]+$")] = "main"
    """main, or what training lacked: head_without_future, backbone_without_video_loss, behaviour_cloning."""
    rotation: Annotated[int, Field(ge=0, le=3)] = 0
    future: Annotated[str, Field(pattern=r"^[a-z]+$")] = "kept"
    """kept, masked, swapped (for another instruction's), moved (for another moment's)."""
    guidance: GuidanceMode = "off"
    w_max: float | None = None
    """Both largest scales of guidance; None = those of the bundle."""
    through: Literal["rows", "client"] = "rows"
    """rows: the policy's rows straight to the twin. client: through the robot client's loop and safety."""
    adaptation: str = ""
    sigma: float | None = None
    horizon: int | None = None
    """How far ahead the imagined future reaches, in rows of 0.1 s; a chunk has 16."""
    reference: str = ""
    """Of a variant: the policy to compare it with on the same layouts."""

    @property
    def kin(self) -> str:
        """The family, or the policy that has none."""
        return self.family or self.policy

    @property
    def method(self) -> str:
        """Guidance as the page and results.json name it."""
        return self.guidance if self.w_max is None else f"{self.guidance} {self.w_max:g}"

    @property
    def design(self) -> tuple[str, float | None, int | None]:
        """The point of the design sweep."""
        return self.adaptation, self.sigma, self.horizon


def cells_of(folder: Path) -> list[Cell]:
    """The described outcome files of a folder; none without an `about.toml`, which says what they are.

    Raises `ConfigurationError` naming the file and the key at fault.
    """
    if not (folder / ABOUT).is_file():
        return []
    about = read_toml(folder / ABOUT)
    told = {entry.get("file"): entry for entry in about.pop("files", [])}
    missing = [name for name in told if not (folder / str(name)).is_file()]
    if missing:
        raise ConfigurationError(f"{folder / ABOUT}", expected="files that are there", got=missing[0])
    return [_cell(path, {**about, **_from_name(path), **told.get(path.name, {})}) for path in _files(folder)]


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.jsonl")) if path.name != IMAGINED]


def _from_name(path: Path) -> dict[str, Any]:
    found = _NAME.fullmatch(path.stem)
    return {key: value for key, value in found.groupdict().items() if value is not None} if found else {}


def _cell(path: Path, facts: dict[str, Any]) -> Cell:
    try:
        return Cell.model_validate({"file": path.name, **facts})
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ConfigurationError(
            f"{path.parent / ABOUT}, {path.name}: {'.'.join(str(part) for part in fault['loc'])}",
            expected=fault["msg"],
            got=fault.get("input"),
            remedy="see training/analyse/cell.py",
        ) from error
