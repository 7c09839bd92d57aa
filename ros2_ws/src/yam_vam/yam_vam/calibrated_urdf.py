"""The station's URDF with what `yam-calibrate` measured in it: camera poses and where the right base stands.

So whoever reads /robot_description knows where the cameras are, and robot_state_publisher puts their frames on
/tf_static, with no message package beyond the standard ones. The frame of a role is `{role}_camera`, an optical frame
(z along the view), which the images of that role name in their headers.
"""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections.abc import Mapping
from typing import Final

from contract.calibration import Mount
from contract.errors import ConfigurationError
from contract.station import Station
from yam_vam.rotations import matrix_of, rpy_of

BODIES: Final[Mapping[str, str]] = {"top": "top_camera", "left_wrist": "left_camera", "right_wrist": "right_camera"}
"""Role -> link of i2rt's model that is this camera, with its mesh."""
CALIBRATED, MODELLED, UNKNOWN = "calibrated", "of the model, not calibrated", "unknown, no frame"


def camera_frame(role: str) -> str:
    """Name of a role's optical frame."""
    return f"{role}_camera"


def with_calibration(urdf: str, station: Station) -> str:
    """The URDF text with the calibration's numbers in it. What stands before <robot> is kept: it is the licence."""
    robot = xml.fromstring(urdf)
    calibration = station.calibration
    if calibration is not None and calibration.right_base is not None:
        _place(_joint_of(robot, "right_base"), calibration.right_base)
    mounts = calibration.mounts if calibration is not None else {}
    for role, body in _bodies(station).items():
        _camera(robot, role, body, mounts.get(role))
    xml.indent(robot)
    return urdf[: urdf.index("<robot")] + xml.tostring(robot, encoding="unicode") + "\n"


def known_frames(station: Station) -> dict[str, str]:
    """Role -> where its frame's pose comes from."""
    mounts = station.calibration.mounts if station.calibration is not None else {}
    bodies = _bodies(station)
    return {role: CALIBRATED if role in mounts else MODELLED if body else UNKNOWN for role, body in bodies.items()}


def _bodies(station: Station) -> dict[str, str | None]:
    """Role -> the model's own camera that it is. A role whose frame has the name of such a link is that link."""
    roles = [camera.role for camera in station.cameras]
    named = {camera_frame(role): role for role in roles}
    bodies: dict[str, str | None] = {}
    for role in roles:
        body = BODIES.get(role, camera_frame(role))
        ours = body in BODIES.values() and named.get(body, role) == role
        bodies[role] = body if ours else None
    return bodies


def _camera(robot: xml.Element, role: str, body: str | None, mount: Mount | None) -> None:
    """The model's camera is moved to where it was measured; a role of another name gets a frame in the same place."""
    frame = camera_frame(role)
    if body is not None and mount is not None:
        _place(_joint_of(robot, body), mount)
    if body is not None and body != frame:
        _frame(robot, frame, body)
    elif body is None and mount is not None:
        _place(_frame(robot, frame, mount.parent), mount)


def _frame(robot: xml.Element, frame: str, parent: str) -> xml.Element:
    """A new link, where its parent is; the joint that holds it."""
    xml.SubElement(robot, "link", {"name": frame})
    joint = xml.SubElement(robot, "joint", {"name": f"{frame}_joint", "type": "fixed"})
    xml.SubElement(joint, "origin", {"xyz": "0 0 0", "rpy": "0 0 0"})
    xml.SubElement(joint, "parent", {"link": parent})
    xml.SubElement(joint, "child", {"link": frame})
    return joint


def _joint_of(robot: xml.Element, link: str) -> xml.Element:
    for joint in robot.iter("joint"):
        child = joint.find("child")
        if child is not None and child.get("link") == link:
            return joint
    raise ConfigurationError("URDF of the station", expected=f"a joint that holds {link}", got="none")


def _place(joint: xml.Element, mount: Mount) -> None:
    """`parent_from_child` of the calibration."""
    origin, parent = joint.find("origin"), joint.find("parent")
    if origin is None or parent is None:
        raise ConfigurationError(f"joint {joint.get('name')} of the URDF", expected="origin and parent", got="none")
    parent.set("link", mount.parent)
    origin.set("xyz", _text(mount.position_m))
    origin.set("rpy", _text(rpy_of(matrix_of(mount.rotation_rad))))


def _text(values: tuple[float, ...]) -> str:
    return " ".join(f"{value:.17g}" for value in values)
