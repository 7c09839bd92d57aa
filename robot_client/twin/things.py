"""Sizes and colours of the things on the table, as plain numbers: used by layouts, scene and judge alike.

Frames of receptacles have their origin on the table, z up. Lengths in metres.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Rgb = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Thing:
    """An object to be moved. `half_size_m`: box (x, y, z), cylinder (radius, half height, -), ball (radius, -, -).

    `radius_m` is that of its footprint on the table, `rest_height_m` that of its centre, `grip_width_m` what the
    fingers close on along its own y axis.
    """

    kind: Literal["box", "cylinder", "ball"]
    half_size_m: tuple[float, float, float]
    colour: Rgb
    radius_m: float
    rest_height_m: float
    grip_width_m: float
    symmetry: int
    """Number of equal grasps in a half turn: 0 for a round thing, 2 for a square, 1 for a brick."""


@dataclass(frozen=True, slots=True)
class Place:
    """A receptacle. `inner_m`: half extents inside (for round ones both the inner radius)."""

    round: bool
    inner_m: tuple[float, float]
    wall_height_m: float
    wall_m: float
    floor_m: float
    colour: Rgb
    radius_m: float
    """Radius of its footprint on the table."""


THINGS: Final[dict[str, Thing]] = {
    "red cube": Thing("box", (0.02, 0.02, 0.02), (0.86, 0.10, 0.08), 0.0283, 0.02, 0.04, 2),
    "green cylinder": Thing("cylinder", (0.02, 0.025, 0.0), (0.10, 0.62, 0.18), 0.02, 0.025, 0.04, 0),
    "blue ball": Thing("ball", (0.022, 0.0, 0.0), (0.08, 0.28, 0.90), 0.022, 0.022, 0.044, 0),
    "yellow brick": Thing("box", (0.03, 0.016, 0.016), (0.96, 0.80, 0.06), 0.034, 0.016, 0.032, 1),
}

PLACES: Final[dict[str, Place]] = {
    "bin": Place(False, (0.05, 0.05), 0.05, 0.004, 0.004, (0.36, 0.20, 0.55), 0.0764),
    "box": Place(False, (0.06, 0.045), 0.025, 0.004, 0.004, (0.72, 0.42, 0.16), 0.0806),
    "plate": Place(True, (0.056, 0.056), 0.012, 0.006, 0.005, (0.96, 0.96, 0.94), 0.062),
    "bowl": Place(True, (0.05, 0.05), 0.035, 0.005, 0.004, (0.95, 0.50, 0.66), 0.065),
}

TABLE_CENTRE_M: Final = (0.27, -0.305)
TABLE_HALF_M: Final = (0.43, 0.62)
THING_MASS_KG: Final = 0.06
