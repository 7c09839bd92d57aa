"""Standard ROS 2 messages of an episode, from arrays in the contract's layout to CDR bytes.

Joints go by URDF name: `*_joint1` .. `*_joint6` [rad], and `*_joint7`, the gripper's slide [m], which is the opening
0..1 times `contract.layout.GRIPPER_TRAVEL_M`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import GRIPPER_MASK, GRIPPER_TRAVEL_M, URDF_NAMES
from robot_client.episodes.cdr import HEADER, CdrWriter

OK: Final = 0
WARN: Final = 1
_SCALE: Final = np.where(GRIPPER_MASK, GRIPPER_TRAVEL_M, 1.0)
_NOTHING: Final = np.zeros(0)


def _names_block() -> bytes:
    """The sequence of joint names; it starts at a multiple of 4 and is the same in every message."""
    writer = CdrWriter()
    writer.u32(len(URDF_NAMES))
    for name in URDF_NAMES:
        writer.text(name)
    return writer.finish()[len(HEADER) :]


_NAMES: Final = _names_block()


def to_urdf(values: NDArray) -> NDArray[np.float64]:
    """(..., 14) in the contract's layout -> positions in URDF units, in the order of `URDF_NAMES`."""
    return np.asarray(values, np.float64) * _SCALE


def from_urdf(values: NDArray) -> NDArray[np.float64]:
    """The way back; exact for float32 values, else to the last digit."""
    return np.asarray(values, np.float64) / _SCALE


def text(value: str) -> bytes:
    """std_msgs/String."""
    writer = CdrWriter()
    writer.text(value)
    return writer.finish()


def joint_state(ros_ns: int, frame_id: str, values: NDArray) -> bytes:
    """sensor_msgs/JointState of (14,) values."""
    writer = _with_header(ros_ns, frame_id)
    writer.align(4)
    writer.raw(_NAMES)
    writer.numbers(to_urdf(values))
    writer.numbers(_NOTHING)
    writer.numbers(_NOTHING)
    return writer.finish()


def trajectory(ros_ns: int, frame_id: str, rows: NDArray, step_ns: int, first_row: int = 0) -> bytes:
    """trajectory_msgs/JointTrajectory of (R, 14) rows; point i is at (first_row + i) * step_ns."""
    writer = _with_header(ros_ns, frame_id)
    writer.align(4)
    writer.raw(_NAMES)
    writer.u32(len(rows))
    for i, row in enumerate(to_urdf(rows)):
        for values in (row, _NOTHING, _NOTHING, _NOTHING):
            writer.numbers(values)
        writer.stamp((first_row + i) * step_ns)
    return writer.finish()


def compressed_image(ros_ns: int, frame_id: str, form: str, data: bytes) -> bytes:
    """sensor_msgs/CompressedImage."""
    writer = _with_header(ros_ns, frame_id)
    writer.text(form)
    writer.blob(data)
    return writer.finish()


def compressed_video(ros_ns: int, frame_id: str, form: str, data: bytes) -> bytes:
    """foxglove_msgs/CompressedVideo: one access unit in Annex B, decodable in order from a keyframe on."""
    writer = CdrWriter()
    writer.stamp(ros_ns)
    writer.text(frame_id)
    writer.blob(data)
    writer.text(form)
    return writer.finish()


def array(values: NDArray, labels: Sequence[str]) -> bytes:
    """std_msgs/*MultiArray of the dtype of `values`; one label per axis."""
    writer = CdrWriter()
    writer.u32(values.ndim)
    for axis, label in enumerate(labels):
        writer.text(label)
        writer.u32(values.shape[axis])
        writer.u32(int(np.prod(values.shape[axis:])))
    writer.u32(0)
    writer.numbers(values.reshape(-1))
    return writer.finish()


def diagnostics(ros_ns: int, statuses: Sequence[tuple[int, str, str, Mapping[str, object]]]) -> bytes:
    """diagnostic_msgs/DiagnosticArray of (level, name, message, values)."""
    writer = _with_header(ros_ns, "")
    writer.u32(len(statuses))
    for level, name, message, values in statuses:
        writer.u8(level)
        for part in (name, message, ""):
            writer.text(part)
        writer.u32(len(values))
        for key, value in values.items():
            writer.text(key)
            writer.text(str(value))
    return writer.finish()


def _with_header(ros_ns: int, frame_id: str) -> CdrWriter:
    writer = CdrWriter()
    writer.stamp(ros_ns)
    writer.text(frame_id)
    return writer
