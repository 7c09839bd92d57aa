"""Cameras of the station: plugged in, the right ones, on the right sides, and calibrated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from contract.errors import RigError
from contract.station import Camera, Station
from robot_client.cameras.realsense import load, serials
from robot_client.cameras.start import devices
from robot_client.cameras.v4l2 import serial_of
from robot_client.doctor.lines import Line, fail, ok, warn

VIDEO: Final = Path("/sys/class/video4linux")
_PLUG_ORDER: Final = re.compile(r"^/dev/video\d+$")


def check_cameras(station: Station, video: Path = VIDEO) -> Iterator[Line]:
    """Each camera's device, serial number and latency."""
    owners = {camera.serial: camera.role for camera in station.cameras if camera.serial}
    for camera in station.cameras:
        device = devices(station, {})[camera.role]  # what a run would open: emulated arms bring made-up pictures
        kind, _, name = device.partition(":")
        if kind == "v4l2":
            yield from _usb(camera, Path(name), owners, video)
        elif kind == "realsense":
            yield _realsense(camera, name)
        else:
            yield _other(camera.role, device)
        if camera.latency_ms == 0.0:
            action = (
                "measure it and write latency_ms into the station file; "
                "until then stamps of images whose own are unusable are too young"
            )
            yield warn(f"camera {camera.role}, latency", "not calibrated", action)


def _usb(camera: Camera, path: Path, owners: dict[str, str], video: Path) -> Iterator[Line]:
    what = f"camera {camera.role}"
    if not path.exists():
        yield fail(what, f"no {path}", "plug the camera in; name it by /dev/v4l/by-id, which stays")
        return
    yield ok(what, f"{path} is there")
    if _PLUG_ORDER.match(str(path)):
        found = "named in the order of plugging in, so it can be another camera at the next boot"
        yield warn(f"{what}, name {path}", found, "name it by its path under /dev/v4l/by-id")
    yield _serial(f"{what}, serial number", camera, serial_of(path, video), owners)


def _serial(what: str, camera: Camera, found: str, owners: dict[str, str]) -> Line:
    if not camera.serial:
        action = f"write serial = {found!r} into the station file, once you have seen its picture"
        return warn(what, "not named in the station file: exchanged cameras would go unnoticed", action)
    if found == camera.serial:
        return ok(what, found)
    if found in owners:
        return fail(what, f"{found}, which is {owners[found]}'s: sides swapped", "exchange the devices in the file")
    return fail(what, f"{found or 'none'}, expected {camera.serial}", "plug the right camera in")


def _realsense(camera: Camera, serial: str) -> Line:
    what = f"camera {camera.role}"
    try:
        found = serials(load(camera.role))
    except RigError as error:
        return fail(what, error.got, error.remedy)
    if serial in found:
        return ok(what, f"RealSense {serial} is there")
    listed = ", ".join(found) or "none"
    return fail(what, f"no RealSense {serial}; there are: {listed}", "plug it in, or correct the serial number")


def _other(role: str, device: str) -> Line:
    what, (kind, _, name) = f"camera {role}", device.partition(":")
    if kind == "twin":
        return fail(what, f"{device} is a camera of the twin", "name the real device in the station file")
    if kind == "file" and not Path(name).is_file():
        return fail(what, f"no {name}", "name a video that is there")
    if kind in ("file", "pattern"):
        return warn(what, f"{device} is made up: the policy will not see the robot", "name a real device")
    return warn(what, f"{device} is not looked for here", "see that it delivers before you engage")
