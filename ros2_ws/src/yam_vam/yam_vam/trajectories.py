"""trajectory_msgs/JointTrajectory -> points for the loop's external source. By name; joints left out stay."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import FieldError
from contract.layout import CHANNELS, SIZE, URDF_NAMES, index
from robot_client.clock import NS_PER_S
from robot_client.episodes.ros_messages import from_urdf

_CHANNEL_OF: Final = dict(zip(URDF_NAMES, CHANNELS, strict=True))


def points_of(message: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Times from the start (N,) ns and targets (N, 14), NaN for joints that the message does not name.

    Raises `FieldError` naming an unknown joint, one given twice, or a point whose positions do not fit the names.
    """
    names = [_CHANNEL_OF.get(name, name) for name in message.joint_names]
    columns = [index(name) for name in names]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or not names:
        raise FieldError("joints of a trajectory", expected="each once", got=twice or "none")
    values = np.full((len(message.points), SIZE), np.nan)
    for row, point in zip(values, message.points, strict=True):
        if len(point.positions) != len(columns) or not np.isfinite(point.positions).all():
            got = list(point.positions)[:SIZE]
            raise FieldError("point of a trajectory", expected=f"{len(columns)} finite positions", got=got)
        row[columns] = point.positions
    times = [point.time_from_start.sec * NS_PER_S + point.time_from_start.nanosec for point in message.points]
    return np.array(times, np.int64), from_urdf(values)
