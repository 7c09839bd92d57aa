"""Board: a ChArUco board described in a file, drawn at true size, with its layout named (case B48).

OpenCV changed the layout of boards with an even number of rows in 4.6; boards printed or bought before are `legacy`.
The board frame is OpenCV's since 4.6: origin at the outer corner of the printed picture's top left square, x to the
right, y down, z into the board, away from the viewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, model_validator

from contract.errors import ConfigurationError
from contract.server_info import Strict
from contract.toml import read_toml

Dictionary = Literal[
    "DICT_4X4_50", "DICT_4X4_100", "DICT_5X5_100", "DICT_5X5_250", "DICT_6X6_250", "DICT_APRILTAG_36h11"
]
Layout = Literal["standard", "legacy"]
Length = Annotated[float, Field(gt=0.0, lt=1.0)]

MARKERS: Final[Mapping[str, int]] = {
    "DICT_4X4_50": 50,
    "DICT_4X4_100": 100,
    "DICT_5X5_100": 100,
    "DICT_5X5_250": 250,
    "DICT_6X6_250": 250,
    "DICT_APRILTAG_36h11": 587,
}
"""How many each dictionary has."""
INCH_M: Final = 0.0254
_TEXT_M: Final = 0.003
"""Height of the words in the margin."""


class Board(Strict):
    """A ChArUco board. Lengths in metres, measured on the print and not taken from the order."""

    columns: Annotated[int, Field(ge=3, le=40)]
    """Squares along x."""
    rows: Annotated[int, Field(ge=3, le=40)]
    """Squares along y."""
    square_m: Length
    marker_m: Length
    dictionary: Dictionary = "DICT_5X5_250"
    layout: Layout = "standard"

    @model_validator(mode="after")
    def _fits(self) -> Board:
        if self.markers > MARKERS[self.dictionary]:
            raise ValueError(
                f"{self.columns} x {self.rows} squares need {self.markers} markers, {self.dictionary} has "
                f"{MARKERS[self.dictionary]}"
            )
        if not 0.3 * self.square_m <= self.marker_m <= 0.95 * self.square_m:
            raise ValueError(f"marker_m {self.marker_m} does not fit into square_m {self.square_m}")
        return self

    @property
    def corners(self) -> int:
        """Inner corners, the points that are measured."""
        return (self.columns - 1) * (self.rows - 1)

    @property
    def markers(self) -> int:
        """Markers, one on every white square."""
        return self.columns * self.rows // 2

    def opencv(self) -> cv2.aruco.CharucoBoard:
        """OpenCV's board."""
        dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, self.dictionary))
        board = cv2.aruco.CharucoBoard((self.columns, self.rows), self.square_m, self.marker_m, dictionary)
        board.setLegacyPattern(self.layout == "legacy")
        return board

    def points_m(self) -> NDArray[np.float64]:
        """(corners, 3) in the board frame, by corner id."""
        return np.asarray(self.opencv().getChessboardCorners(), np.float64)

    def picture(self, pixels_per_square: int) -> NDArray[np.uint8]:
        """Greyscale picture of the board alone, without a margin."""
        size = (self.columns * pixels_per_square, self.rows * pixels_per_square)
        return np.asarray(self.opencv().generateImage(size, marginSize=0), np.uint8)

    def variant(self, **changes: object) -> Board:
        """The board with other settings, to try out what a wrong one might be."""
        return Board.model_validate({**self.model_dump(), **changes})


def load_board(path: Path) -> Board:
    """A board file. Raises `ConfigurationError` naming the key at fault."""
    try:
        return Board.model_validate(read_toml(path))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in fault["loc"]) or "the whole file"
        raise ConfigurationError(
            f"{path}, {key}",
            expected=fault["msg"].removeprefix("Value error, "),
            got=repr(fault.get("input"))[:80],
            remedy="correct the board file",
        ) from error


def save_print(board: Board, path: Path, dots_per_inch: int = 300, margin_m: float = 0.01) -> tuple[float, float]:
    """Write a PDF or PNG that prints at true size; returns width and height [m] of the page.

    Raises `ConfigurationError` for another kind of file.
    """
    from PIL import Image

    if path.suffix.lower() not in (".pdf", ".png"):
        raise ConfigurationError("--out", expected="a .pdf or .png file", got=path.name, remedy="change its ending")
    dots_per_m = dots_per_inch / INCH_M
    square = max(1, round(board.square_m * dots_per_m))
    margin = round(margin_m * dots_per_m)
    drawn = np.pad(board.picture(square), margin, constant_values=255)
    _label(drawn, board, margin, dots_per_m)
    # The number of dots in a square is whole, so the resolution is what makes the square exactly its size.
    exact = square / board.square_m * INCH_M
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(drawn).save(path, dpi=(exact, exact), resolution=exact)
    except OSError as error:
        raise ConfigurationError(
            f"{path}", expected="a file that can be written", got=error.strerror, remedy="give another --out"
        ) from error
    return drawn.shape[1] / exact * INCH_M, drawn.shape[0] / exact * INCH_M


def _label(drawn: NDArray[np.uint8], board: Board, margin: int, dots_per_m: float) -> None:
    """What it is, in the margin: whoever finds a board in a drawer can write its file."""
    below = (
        f"ChArUco {board.columns} x {board.rows}, {board.dictionary}, layout {board.layout}: "
        f"square {1e3 * board.square_m:g} mm, marker {1e3 * board.marker_m:g} mm, printed at 100 %"
    )
    lines = ((below, drawn.shape[0] - margin // 3), ("origin: x to the right, y down", margin - margin // 3))
    for text, bottom in lines:
        # Hershey's capitals are 21 units high, of which a scale of 1 makes as many dots.
        scale = min(_TEXT_M * dots_per_m / 21.0, (drawn.shape[1] - 2 * margin) / _width(text))
        thick = max(1, round(scale))
        cv2.putText(drawn, text, (margin, bottom), cv2.FONT_HERSHEY_SIMPLEX, scale, 0, thick, cv2.LINE_AA)


def _width(text: str) -> float:
    """Dots of a line at scale 1."""
    return float(cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, 1.0, 1)[0][0])
