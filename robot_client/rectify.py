"""Pictures without their lens's distortion, for policies that were trained on such."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

from contract.calibration import Lens
from contract.errors import ConfigurationError
from contract.server_info import ServerInfo
from contract.station import Camera, Station
from robot_client.images import Image


class Rectifier:
    """One camera's pictures as a lens with the same K and no distortion would take them, as CameraInfo's P says.

    What the real lens did not see is black. The way of each pixel is worked out at the first picture of a size.
    """

    def __init__(self, lens: Lens) -> None:
        self._lens = lens
        self._ways: dict[tuple[int, int], tuple[NDArray, NDArray]] = {}

    def __call__(self, image: Image) -> Image:
        """(h, w, 3) uint8 of the same size. Raises `ConfigurationError` for another shape than was calibrated."""
        height, width = image.shape[:2]
        if (height, width) not in self._ways:
            self._ways[height, width] = self._way(height, width)
        across, down = self._ways[height, width]
        return np.asarray(cv2.remap(image, across, down, cv2.INTER_LINEAR), np.uint8)

    def _way(self, height: int, width: int) -> tuple[NDArray, NDArray]:
        lens = self._lens.scaled(width, height)
        k = lens.matrix()
        return cv2.initUndistortRectifyMap(k, np.array(lens.distortion), np.eye(3), k, (width, height), cv2.CV_16SC2)


def rectifiers_of(cameras: Mapping[str, Camera], station: Station, info: ServerInfo) -> dict[str, Rectifier]:
    """Role of the policy -> rectifier, of the bound cameras that the policy wants rectified.

    Raises `ConfigurationError` naming the camera whose lens is not calibrated, or was at another shape.
    """
    lenses = station.calibration.intrinsics if station.calibration else {}
    found = {}
    for spec in info.cameras:
        camera = cameras.get(spec.role)
        if camera is None or not spec.rectified:
            continue
        lens = lenses.get(camera.role)
        if lens is None:
            raise ConfigurationError(
                f"camera {camera.role}", expected=f"intrinsics: the policy wants {spec.role} rectified",
                got=f"none in station {station.name}", remedy="run yam-calibrate intrinsics",
            )  # fmt: skip
        lens.scaled(camera.width, camera.height)
        found[spec.role] = Rectifier(lens)
    return found
