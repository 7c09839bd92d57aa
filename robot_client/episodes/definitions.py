"""ROS 2 message definitions of the topics in an episode, as rosbag2 stores them beside the data (`ros2msg`).

Field for field those of common_interfaces, rcl_interfaces and foxglove_msgs; comments are left out. Each
definition is followed by those of the messages it contains.
"""

from __future__ import annotations

from typing import Final

_RULE: Final = "=" * 80

_PLAIN: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "builtin_interfaces/Time": ("int32 sec\nuint32 nanosec\n", ()),
    "builtin_interfaces/Duration": ("int32 sec\nuint32 nanosec\n", ()),
    "std_msgs/Header": ("builtin_interfaces/Time stamp\nstring frame_id\n", ("builtin_interfaces/Time",)),
    "std_msgs/MultiArrayDimension": ("string label\nuint32 size\nuint32 stride\n", ()),
    "std_msgs/MultiArrayLayout": (
        "MultiArrayDimension[] dim\nuint32 data_offset\n",
        ("std_msgs/MultiArrayDimension",),
    ),
    "diagnostic_msgs/KeyValue": ("string key\nstring value\n", ()),
    "diagnostic_msgs/DiagnosticStatus": (
        "byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\n"
        "byte level\nstring name\nstring message\nstring hardware_id\nKeyValue[] values\n",
        ("diagnostic_msgs/KeyValue",),
    ),
    "trajectory_msgs/JointTrajectoryPoint": (
        "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\n"
        "builtin_interfaces/Duration time_from_start\n",
        ("builtin_interfaces/Duration",),
    ),
}

_TOP: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "std_msgs/msg/String": ("string data\n", ()),
    **{
        f"std_msgs/msg/{name}MultiArray": (
            f"MultiArrayLayout layout\n{name.lower()}[] data\n",
            ("std_msgs/MultiArrayLayout",),
        )
        for name in ("Float64", "Float32", "Int64", "UInt8", "UInt16")
    },
    "sensor_msgs/msg/JointState": (
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n",
        ("std_msgs/Header",),
    ),
    "sensor_msgs/msg/CompressedImage": (
        "std_msgs/Header header\nstring format\nuint8[] data\n",
        ("std_msgs/Header",),
    ),
    "foxglove_msgs/msg/CompressedVideo": (
        "builtin_interfaces/Time timestamp\nstring frame_id\nuint8[] data\nstring format\n",
        ("builtin_interfaces/Time",),
    ),
    "trajectory_msgs/msg/JointTrajectory": (
        "std_msgs/Header header\nstring[] joint_names\nJointTrajectoryPoint[] points\n",
        ("std_msgs/Header", "trajectory_msgs/JointTrajectoryPoint"),
    ),
    "diagnostic_msgs/msg/DiagnosticArray": (
        "std_msgs/Header header\nDiagnosticStatus[] status\n",
        ("std_msgs/Header", "diagnostic_msgs/DiagnosticStatus"),
    ),
}


def definition_of(ros_type: str) -> str:
    """The `ros2msg` text of one of the types an episode has; `KeyError` for any other."""
    text, needs = _TOP[ros_type]
    parts = [text, *(f"{_RULE}\nMSG: {name}\n{_PLAIN[name][0]}" for name in _all(needs))]
    return "".join(parts)


def _all(needs: tuple[str, ...]) -> list[str]:
    """Names of the contained messages, each once, in order of first use."""
    found: dict[str, None] = {}
    for name in needs:
        found.setdefault(name)
        for inner in _all(_PLAIN[name][1]):
            found.setdefault(inner)
    return list(found)
