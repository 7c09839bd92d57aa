"""/robot_description, latched: the station's URDF with its meshes where they are on this machine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from std_msgs.msg import String

from contract.errors import ConfigurationError
from robot_client.i2rt_paths import models_directory
from yam_vam.qos_watch import QosWatch
from yam_vam.topics import LATCHED

TOPIC: Final = "robot_description"
URDF: Final = "yam_station.urdf"
_MESH: Final = re.compile(r'filename="\.\./\.\./(?P<path>[^"]+)"')
_ASSETS: Final = re.compile(r'filename="\.\./(?P<path>assets/[^"]+)"')


def urdf_path() -> Path:
    """Beside this package in the repository, or in its share folder once colcon has built it."""
    beside = Path(__file__).resolve().parents[1] / "urdf" / URDF
    if beside.is_file():
        return beside
    for folder in Path(__file__).resolve().parents:
        built = folder / "share" / "yam_vam" / "urdf" / URDF
        if built.is_file():
            return built
    raise ConfigurationError("URDF of the station", expected=URDF, got="no such file", remedy="build again with colcon")


def description() -> str:
    """URDF text. Meshes keep their relative paths where i2rt is not installed: the tree is right, nothing is drawn."""
    text = urdf_path().read_text(encoding="utf-8")
    try:
        models = models_directory()
    except ConfigurationError:
        return text
    text = _MESH.sub(lambda m: f'filename="file://{models}/{m["path"]}"', text)
    return _ASSETS.sub(lambda m: f'filename="file://{models}/station/{m["path"]}"', text)


def advertise_description(watch: QosWatch) -> None:
    """Publish it once, for everybody who comes."""
    watch.advertise(TOPIC, String, LATCHED).publish(String(data=description()))
