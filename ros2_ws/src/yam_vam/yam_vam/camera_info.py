"""sensor_msgs/CameraInfo of a station's camera. Zeros in `k` say "not calibrated", as the message's own rule has it."""

from __future__ import annotations

from sensor_msgs.msg import CameraInfo

from contract.calibration import MODEL
from contract.camera_info import camera_numbers
from contract.station import Camera, Station


def camera_info(camera: Camera, station: Station) -> CameraInfo:
    """Size, and the calibration where the station has one.

    Raises `ConfigurationError` when the stream has another shape than the calibrated pictures.
    """
    message = CameraInfo()
    message.height, message.width = camera.height, camera.width
    message.distortion_model = MODEL
    numbers = camera_numbers(station, camera)
    if numbers is not None:
        message.d, message.k, message.r, message.p = list(numbers.d), numbers.k, numbers.r, numbers.p
    return message
