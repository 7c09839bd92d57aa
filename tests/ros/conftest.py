"""Real rclpy and Fast DDS, on this host only and in a domain of this test run's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ros2_ws" / "src" / "yam_vam"
for place in (PACKAGE, Path(__file__).parent):
    sys.path.insert(0, str(place))
os.environ["PYTHONPATH"] = os.pathsep.join([str(PACKAGE), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ["ROS_DOMAIN_ID"] = str(1 + os.getpid() % 100)
os.environ.setdefault("RCUTILS_COLORIZED_OUTPUT", "0")

rclpy = pytest.importorskip("rclpy", reason="rclpy is not installed: pip install 'yam-video-action[ros]', or a ROS")


@pytest.fixture(scope="session")
def ros() -> Iterator[None]:
    """One context for all tests of this process."""
    from rclpy.signals import SignalHandlerOptions

    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    yield
    rclpy.try_shutdown()
