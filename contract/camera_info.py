"""A calibrated camera as sensor_msgs/CameraInfo wants it, at the resolution its stream has."""

from __future__ import annotations

from dataclasses import dataclass

from contract.calibration import MODEL
from contract.station import Camera, Station


@dataclass(frozen=True, slots=True)
class CameraNumbers:
    """Fields of the message. Unrectified: R is the identity, P is K with a column of zeros."""

    width: int
    height: int
    distortion_model: str
    d: tuple[float, ...]
    """k1 k2 p1 p2 k3."""
    k: tuple[float, ...]
    """(9,)"""
    r: tuple[float, ...]
    p: tuple[float, ...]
    """(12,)"""


def camera_numbers(station: Station, camera: Camera) -> CameraNumbers | None:
    """None when the station's calibration has no intrinsics of this camera.

    Raises `ConfigurationError` when the stream has another shape than the calibrated pictures.
    """
    found = station.calibration and station.calibration.intrinsics.get(camera.role)
    if not found:
        return None
    lens = found.scaled(camera.width, camera.height)
    k = tuple(float(value) for value in lens.matrix().ravel())
    p = (*k[0:3], 0.0, *k[3:6], 0.0, *k[6:9], 0.0)
    return CameraNumbers(lens.width, lens.height, MODEL, lens.distortion, k, (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0), p)
