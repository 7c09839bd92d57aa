"""What an episode is made of, whatever it is stored in. Stamps of one episode are of one clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Kind = Literal["measured", "told", "asked"]


@dataclass(frozen=True, slots=True, eq=False)
class Joints:
    """Joints and grippers of both arms."""

    stamp_ns: int
    kind: Kind
    values: NDArray[np.float64]
    """(14,) in the contract's layout."""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One camera frame."""

    stamp_ns: int
    role: str
    rgb: Callable[[], NDArray[np.uint8]]
    """(H, W, 3); decoded when it is called, so that who needs no image pays for none."""


@dataclass(frozen=True, slots=True)
class Driver:
    """From here on the arms are driven by `source`, in `mode` (names of `robot_client.modes.Mode`)."""

    stamp_ns: int
    mode: str
    source: str
    intervention: tuple[str, ...] = ()
    """Arms that a person moves in place of the policy."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """From here on the arms are to do this."""

    stamp_ns: int
    text: str


Entry: TypeAlias = Joints | Picture | Driver | Instruction
