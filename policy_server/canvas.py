"""All camera views on one picture, by the manifest's rectangles: the only copy of pixels on the way to the model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from contract.architecture import Canvas
from contract.errors import FieldError


class CanvasTiler:
    """Tiles role images onto one canvas that is allocated once and written over by every observation."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self.pixels: NDArray[np.uint8] = np.zeros((1, canvas.height, canvas.width, 3), np.uint8)
        """(1, height, width, 3) RGB; what no view covers stays black."""
        self._places = {
            view.role: self.pixels[0, view.top : view.top + view.height, view.left : view.left + view.width]
            for view in canvas.views
        }
        self._optional = {view.role for view in canvas.views if view.optional}

    def fill(self, images: Mapping[str, NDArray]) -> tuple[str, ...]:
        """Copy each role's (height, width, 3) uint8 RGB image to its rectangle; returns the optional roles left black.

        Bound by role, never by order (B19). Raises `FieldError` for a missing required view and for a wrong shape or
        dtype: nothing is scaled or converted here (B17).
        """
        absent = []
        for role, place in self._places.items():
            image = images.get(role)
            if image is None:
                self._black_out(role, place)
                absent.append(role)
            elif image.shape != place.shape or image.dtype != np.uint8:
                raise FieldError(
                    f"image {role}",
                    expected=f"uint8 {place.shape}, RGB",
                    got=f"{image.dtype} {image.shape}",
                    remedy="resize and convert on the client",
                )
            else:
                np.copyto(place, image)
        return tuple(absent)

    def _black_out(self, role: str, place: NDArray) -> None:
        if role not in self._optional:
            raise FieldError(f"image {role}", expected="an image", got="none", remedy="the policy needs this view")
        place[...] = 0
