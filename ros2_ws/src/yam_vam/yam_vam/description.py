"""/robot_description, latched: the station's URDF as calibrated, with its meshes where they are on this machine.

`python -m yam_vam.description --station FILE` prints it, for robot_state_publisher, which wants it as a parameter.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Final

from std_msgs.msg import String

from contract.errors import ConfigurationError, StackError
from contract.station import Station, load_station
from robot_client.i2rt_paths import models_directory
from yam_vam.calibrated_urdf import with_calibration
from yam_vam.qos_watch import QosWatch
from yam_vam.shared_files import shared_file
from yam_vam.topics import LATCHED

TOPIC: Final = "robot_description"
URDF: Final = "urdf/yam_station.urdf"
_MESH: Final = re.compile(r'filename="\.\./\.\./(?P<path>[^"]+)"')
_ASSETS: Final = re.compile(r'filename="\.\./(?P<path>assets/[^"]+)"')


def urdf_path() -> Path:
    """The model's URDF, uncalibrated."""
    return shared_file(URDF)


def description(station: Station) -> str:
    """URDF text. Meshes keep their relative paths where i2rt is not installed: the tree is right, nothing is drawn."""
    text = with_calibration(urdf_path().read_text(encoding="utf-8"), station)
    try:
        models = models_directory()
    except ConfigurationError:
        return text
    text = _MESH.sub(lambda m: f'filename="file://{models}/{m["path"]}"', text)
    return _ASSETS.sub(lambda m: f'filename="file://{models}/station/{m["path"]}"', text)


def advertise_description(watch: QosWatch, station: Station) -> None:
    """Publish it once, for everybody who comes."""
    watch.advertise(TOPIC, String, LATCHED).publish(String(data=description(station)))


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m yam_vam.description", description="Print the station's URDF.")
    parser.add_argument("--station", default="twin", help="name of a shipped station or path of a station file")
    try:
        print(description(load_station(parser.parse_args().station)), end="")
    except StackError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
