"""Camera frames on /tf_static, from the station's calibration, where ROS has tf2_msgs.

tf2_msgs is part of every ROS installation and of no wheel: from wheels alone nothing is published, and /diagnostics
says so. The arms' own links come from robot_state_publisher, which reads /joint_states and /robot_description.
"""

from __future__ import annotations

import importlib
from typing import Any

from contract.station import Station


def advertise_transforms(node: Any, station: Station) -> str:
    """Publish what is calibrated; in words, what was done."""
    try:
        importlib.import_module("tf2_msgs.msg")
    except ModuleNotFoundError:
        return "not published: tf2_msgs is not installed (it comes with a ROS installation)"
    if station.calibration is None or not station.calibration.mounts:
        return "not published: this station has no calibrated camera poses"
    return "not published: the station's calibrated camera poses are read by no publisher here"
