"""The ROS topic table as data: names, standard types, direction. Only ros2_ws turns it into publishers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Direction = Literal["out", "in", "both", "bag"]
"""Seen from the robot; `bag`: only in recorded episodes."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic; `{role}` stands for a camera role."""

    name: str
    type: str
    direction: Direction
    meaning: str
    latched: bool = False
    sensor_data: bool = False
    """Best effort, newest wins."""


TOPICS: Final[tuple[Topic, ...]] = (
    Topic("/joint_states", "sensor_msgs/msg/JointState", "out", "measured, URDF names", sensor_data=True),
    Topic("/joint_commands", "sensor_msgs/msg/JointState", "out", "told; publish only on real arms"),
    Topic("/joint_requests", "sensor_msgs/msg/JointState", "out", "asked, before safety"),
    Topic("/external_trajectory", "trajectory_msgs/msg/JointTrajectory", "in", "input, only in EXTERNAL"),
    Topic("/policy/chunk", "trajectory_msgs/msg/JointTrajectory", "out", "accepted chunk; frame_id = chunk id"),
    Topic("/policy/temporal_ratio", "std_msgs/msg/Float64MultiArray", "out", "TR, density"),
    Topic("/policy/guidance_scale", "std_msgs/msg/Float64MultiArray", "out", "w_lang, w_plan"),
    Topic("/policy/masses", "std_msgs/msg/Float32MultiArray", "out", "per layer, head, flow step: C, F"),
    Topic("/mode", "std_msgs/msg/String", "out", "mode and control source as JSON", latched=True),
    Topic("/policy/instruction", "std_msgs/msg/String", "both", "instruction", latched=True),
    Topic("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", "out", "watchdogs, latencies, clips, drops"),
    Topic("/{role}/image_raw", "sensor_msgs/msg/Image", "both", "as captured", sensor_data=True),
    Topic("/{role}/camera_info", "sensor_msgs/msg/CameraInfo", "both", "calibration of the camera", sensor_data=True),
    Topic("/policy/observation/{role}", "sensor_msgs/msg/CompressedImage", "out", "png of exactly what the server got"),
)

BAG_TOPICS: Final[tuple[Topic, ...]] = (
    Topic("/loop/tick", "std_msgs/msg/Int64MultiArray", "bag", "place on the grid, lateness, skips, epoch, row"),
    Topic("/loop/clips", "std_msgs/msg/UInt16MultiArray", "bag", "per channel why told is not asked"),
    Topic("/policy/observation", "std_msgs/msg/String", "bag", "the question but its images, as JSON"),
    Topic("/policy/answer", "std_msgs/msg/String", "bag", "TR, scales, branches, stage times as JSON"),
    Topic("/policy/failure", "std_msgs/msg/String", "bag", "a question without a chunk, and why, as JSON"),
    Topic("/policy/imagined", "sensor_msgs/msg/CompressedImage", "bag", "jpeg of a predicted frame, at its time"),
    Topic("/{role}/image_raw/compressed", "sensor_msgs/msg/CompressedImage", "bag", "jpeg of every frame as captured"),
    Topic("/{role}/video", "foxglove_msgs/msg/CompressedVideo", "bag", "the same as H.264, if so chosen"),
)
"""What only a bag has. An episode has these, and those of `TOPICS` that go out, and nothing else."""


def topic_of(name: str) -> Topic | None:
    """The row of either table that a topic's name belongs to, `{role}` standing for one camera role."""
    return next((topic for topic in (*TOPICS, *BAG_TOPICS) if _fits(topic.name, name)), None)


def _fits(pattern: str, name: str) -> bool:
    before, mark, after = pattern.partition("{role}")
    if not mark:
        return pattern == name
    role = name[len(before) : len(name) - len(after)]
    return name.startswith(before) and name.endswith(after) and bool(role) and "/" not in role
