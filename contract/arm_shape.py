"""The outline of one arm as capsules, one file of numbers under calibration/arms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from contract.errors import StationError
from contract.server_info import Row, Strict
from contract.toml import read_toml

ARM_SHAPES: Final = Path(__file__).resolve().parent.parent / "calibration" / "arms"
LINKS: Final = ("base", "link1", "link2", "link3", "link4", "link5", "gripper")
"""Bodies of the chain; joint i turns link i against the one before it, joint 6 the gripper."""

Point = Annotated[tuple[float, float, float], Row]
Length = Annotated[float, Field(ge=0.0, le=10.0)]


class Capsule(Strict):
    """Everything within `radius_m` of the line from `from_m` to `to_m`, in the frame of `link`."""

    name: Annotated[str, Field(min_length=1, max_length=32)]
    link: Annotated[str, Field(pattern="^(" + "|".join(LINKS) + ")$")]
    from_m: Point
    to_m: Point
    radius_m: Annotated[float, Field(gt=0.0, le=1.0)]
    finger: bool = False
    """Meant to touch: not held away from the table. The tool centre's own height stands for it."""


class ArmShape(Strict):
    """Capsules that together contain every part of the arm, its fingers open as far as they go."""

    format: Annotated[int, Field(ge=1, le=1)]
    model: str
    """The model whose meshes are contained."""
    made_with: str
    """The command that wrote the file."""
    padding_m: Length
    """Added to each fitted radius."""
    capsules: Annotated[tuple[Capsule, ...], Row, Field(min_length=1)]


def load_arm_shape(name: str) -> ArmShape:
    """A shipped outline by name. Raises `StationError` with the names there are, or the key at fault."""
    path = ARM_SHAPES / f"{name}.toml"
    known = sorted(p.stem for p in ARM_SHAPES.glob("*.toml"))
    if name not in known:
        raise StationError("shape of the arms", expected=f"one of {', '.join(known)}", got=name, remedy="edit the file")
    try:
        return ArmShape.model_validate(read_toml(path))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in fault["loc"])
        raise StationError(f"{path.name}: {key}", expected=fault["msg"], got=repr(fault.get("input"))[:100]) from error
