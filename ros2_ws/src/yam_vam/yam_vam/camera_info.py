"""sensor_msgs/CameraInfo of a station's camera. Zeros in `k` say "not calibrated", as the message's own rule has it."""

from __future__ import annotations

from sensor_msgs.msg import CameraInfo

from contract.station import Camera


def camera_info(camera: Camera) -> CameraInfo:
    """Size, and the calibration where the station has one."""
    message = CameraInfo()
    message.height, message.width = camera.height, camera.width
    message.distortion_model = "plumb_bob"
    return message
