"""`python -m yam_vam.bench.listener FOLDER WIDTH HEIGHT`: three image topics into mailboxes, as the node cameras does.

Prints HEARD once all three came.
"""

from __future__ import annotations

import sys
from pathlib import Path

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from robot_client.episodes.ros_time import ros_time_now
from yam_vam.bench.parts import Plan
from yam_vam.image_topics import ImageTopics
from yam_vam.qos_watch import QosWatch


def main() -> int:
    """Until killed."""
    folder, width, height = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node, cameras = Node("bench_listener"), Plan(0.0, width, height, 30.0).cameras
    topics = ImageTopics(QosWatch(node, print), print, cameras, folder, ros_time_now())
    topics.open({camera.role: "" for camera in cameras})
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    said = False
    while True:
        executor.spin_once(timeout_sec=0.1)
        if not said and len(topics.taken) == len(cameras):
            said = True
            print("HEARD", flush=True)


if __name__ == "__main__":
    sys.exit(main())
