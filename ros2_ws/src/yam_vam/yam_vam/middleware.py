"""Fast DDS with room for camera images; config/fastdds.xml says why. No other middleware is touched by it."""

from __future__ import annotations

import os
from typing import Final

from yam_vam.shared_files import shared_file

PROFILES: Final = "config/fastdds.xml"
NAMES: Final = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")
"""Where Fast DDS 3 looks for its settings, and where Fast DDS 2 does; 3 complains when it finds the other one."""
_FAST_DDS_2: Final = frozenset({"humble", "iron", "jazzy"})


def make_room_for_images() -> None:
    """To be called before `rclpy.init`; processes started later have it, too. What a person has set stays.

    Raises `ConfigurationError` when the file was not installed.
    """
    if not any(os.environ.get(name) for name in NAMES):
        old = os.environ.get("ROS_DISTRO", "") in _FAST_DDS_2
        os.environ[NAMES[old]] = str(shared_file(PROFILES))
