"""What a camera device is, and the one that a station file names."""

from __future__ import annotations

from typing import Final, Protocol

from contract.errors import StationError
from contract.station import Camera
from robot_client.rigs.base import Frame

KINDS: Final = ("v4l2", "realsense")
"""Kinds of `device` that are read here; `twin:` and `topic:` come from other processes."""


class CameraDevice(Protocol):
    """One camera, used by one thread. Every failure is a `RigError` naming the camera."""

    def open(self) -> None:
        """Start the stream."""

    def read(self) -> Frame | None:
        """The next frame, stamped with the monotonic clock; None when none came within the device's own patience."""

    def close(self) -> None:
        """Stop the stream."""


def kind_of(camera: Camera) -> tuple[str, str]:
    """Kind and rest of `device`, as "v4l2", "/dev/video0"."""
    kind, _, place = camera.device.partition(":")
    return kind, place


def make_device(camera: Camera) -> CameraDevice:
    """An unopened device. Raises `StationError` for a kind that is not read here."""
    kind, place = kind_of(camera)
    if kind == "v4l2":
        from robot_client.cameras.v4l2 import V4l2Camera

        return V4l2Camera(camera, place)
    if kind == "realsense":
        from robot_client.cameras.realsense import RealsenseCamera

        return RealsenseCamera(camera, place)
    raise StationError(
        f"camera {camera.role}", expected=f"a device of kind {' or '.join(KINDS)}", got=camera.device, remedy="edit it"
    )
