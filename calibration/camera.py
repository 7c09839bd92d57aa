"""Camera: focal lengths, principal point and lens distortion at one resolution, and how they scale to another."""

from __future__ import annotations

from typing import Annotated, Final

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from contract.errors import ConfigurationError
from contract.server_info import Row, Strict

MODEL: Final = "plumb_bob"
"""OpenCV's k1 k2 p1 p2 k3, as sensor_msgs/CameraInfo names it."""
Pixels = Annotated[int, Field(ge=16, le=8192)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Camera(Strict):
    """Intrinsics. Pixel centres lie at whole numbers, as in OpenCV."""

    width: Pixels
    height: Pixels
    fx: Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
    fy: Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
    cx: Finite
    cy: Finite
    distortion: Annotated[tuple[Finite, Finite, Finite, Finite, Finite], Row] = (0.0, 0.0, 0.0, 0.0, 0.0)

    def matrix(self) -> NDArray[np.float64]:
        """K (3, 3)."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    def coefficients(self) -> NDArray[np.float64]:
        """(5,) k1 k2 p1 p2 k3."""
        return np.array(self.distortion)

    def project(self, camera_from_board: NDArray, points_m: NDArray) -> NDArray[np.float64]:
        """(n, 2) pixels of (n, 3) points of a board."""
        turned, _ = cv2.Rodrigues(camera_from_board[:3, :3])
        seen, _ = cv2.projectPoints(
            np.ascontiguousarray(points_m), turned, camera_from_board[:3, 3].copy(), self.matrix(), self.coefficients()
        )
        return np.asarray(seen, np.float64).reshape(-1, 2)

    def scaled(self, width: int, height: int) -> Camera:
        """The camera when its driver delivers the same picture smaller or larger.

        Raises `ConfigurationError` for another shape: then the sensor is cropped, and only the driver knows where.
        """
        across, down = width / self.width, height / self.height
        if abs(across / down - 1.0) > 0.01:
            raise ConfigurationError(
                "camera resolution",
                expected=f"the shape of {self.width} x {self.height}, at which it was calibrated",
                got=f"{width} x {height}",
                remedy="set the camera to that shape, or calibrate at this one",
            )
        return self.model_copy(
            update={
                "width": width,
                "height": height,
                "fx": self.fx * across,
                "fy": self.fy * down,
                # Centres of pixels scale about the picture's outer corner, half a pixel before the first centre.
                "cx": (self.cx + 0.5) * across - 0.5,
                "cy": (self.cy + 0.5) * down - 0.5,
            }
        )
