"""Camera: focal lengths, principal point and distortion at one resolution, and where points land in its picture."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from contract.calibration import Lens


class Camera(Lens):
    """Intrinsics."""

    def scaled(self, width: int, height: int) -> Camera:
        """See `Lens.scaled`."""
        return Camera.model_validate(super().scaled(width, height).model_dump())

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
