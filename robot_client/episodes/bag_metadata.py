"""metadata.yaml of a rosbag2 folder, version 8: what `ros2 bag info` reads. Written last and at once, by renaming."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

NAME: Final = "metadata.yaml"
RECORD: Final = "rosbag2"
"""Metadata record of an MCAP file with the same, for when the file is alone; without it `ros2 bag` reads the quality of
service of its topics as if it were of a newer version, and then knows none of the policies."""
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Of libyaml where PyYAML has it: the other takes longer for metadata.yaml than for a second of messages."""
_NS_NAME: Final = "nanoseconds_since_epoch"


@dataclass(frozen=True, slots=True)
class BagFile:
    """One data file: name in the folder, ROS time of the first and last message, number of messages."""

    name: str
    start_ns: int
    end_ns: int
    messages: int


@dataclass(frozen=True, slots=True)
class BagTopic:
    """One topic and its number of messages."""

    name: str
    ros_type: str
    qos: str
    messages: int


def write_bag_metadata(
    folder: Path, files: Sequence[BagFile], topics: Sequence[BagTopic], custom: Mapping[str, str]
) -> None:
    """(Re)write the folder's metadata.yaml."""
    content = {"rosbag2_bagfile_information": _content(files, topics, custom)}
    partial = folder / f".{NAME}.part"
    with partial.open("w", encoding="utf-8") as out:
        yaml.safe_dump(content, out, sort_keys=False)
        out.flush()
        os.fsync(out.fileno())
    partial.replace(folder / NAME)


def bag_record(files: Sequence[BagFile], topics: Sequence[BagTopic], custom: Mapping[str, str]) -> dict[str, str]:
    """Content of the metadata record `RECORD`."""
    return {"serialized_metadata": yaml.safe_dump(_content(files, topics, custom), sort_keys=False)}


def _content(files: Sequence[BagFile], topics: Sequence[BagTopic], custom: Mapping[str, str]) -> dict[str, Any]:
    start_ns = min((file.start_ns for file in files), default=0)
    end_ns = max((file.end_ns for file in files), default=0)
    return {
        "version": 8,
        "storage_identifier": "mcap",
        "duration": {"nanoseconds": end_ns - start_ns},
        "starting_time": {_NS_NAME: start_ns},
        "message_count": sum(file.messages for file in files),
        "topics_with_message_count": [_topic(topic) for topic in topics],
        "compression_format": "",
        "compression_mode": "",
        "relative_file_paths": [file.name for file in files],
        "files": [
            {
                "path": file.name,
                "starting_time": {_NS_NAME: file.start_ns},
                "duration": {"nanoseconds": file.end_ns - file.start_ns},
                "message_count": file.messages,
            }
            for file in files
        ],
        "custom_data": dict(custom),
        "ros_distro": "jazzy",
    }


def _topic(topic: BagTopic) -> dict[str, Any]:
    return {
        "topic_metadata": {
            "name": topic.name,
            "type": topic.ros_type,
            "serialization_format": "cdr",
            "offered_qos_profiles": topic.qos,
            "type_description_hash": "",
        },
        "message_count": topic.messages,
    }


def read_information(folder: Path) -> dict[str, Any]:
    """What metadata.yaml says of a bag; empty when it is missing, empty or another's."""
    try:
        content = yaml.load((folder / NAME).read_text(encoding="utf-8"), Loader=_LOADER)
        return dict(content["rosbag2_bagfile_information"])
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError, ValueError):
        return {}
