"""`python -m yam_vam.bench.talker`: three made-up cameras as image topics, in a process of their own."""

from __future__ import annotations

import argparse
import sys
import time

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from contract.station import load_station
from robot_client.cameras.pattern import picture
from robot_client.clock import NS_PER_S, MonotonicClock
from robot_client.episodes.ros_time import RosTime
from robot_client.pacer import Pacer
from yam_vam.images import image_of
from yam_vam.topics import role_topic


def main() -> int:
    """Publish until the time is over. Stamps are taken just before `publish`; the frame id is the image's number."""
    parser = argparse.ArgumentParser(prog="python -m yam_vam.bench.talker")
    for name, kind in (("seconds", float), ("width", int), ("height", int), ("rate", float), ("ros-offset-ns", int)):
        parser.add_argument(f"--{name}", type=kind, required=True)
    asked = parser.parse_args()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node, ros_time = Node("bench_talker"), RosTime(asked.ros_offset_ns)
    roles = [camera.role for camera in load_station("twin").cameras]
    topics = {role: role_topic("/{role}/image_raw", role) for role in roles}
    ends = {role: node.create_publisher(topic.kind, topic.name, topic.qos) for role, topic in topics.items()}
    images = [picture("bench", asked.height, asked.width, number) for number in range(8)]
    pacer = Pacer(MonotonicClock(), int(NS_PER_S / asked.rate))
    pacer.start()
    until_s, number = time.monotonic() + asked.seconds, 0
    while time.monotonic() < until_s:
        pacer.wait()
        for role in roles:
            ends[role].publish(image_of(images[number % 8], ros_time.of(time.monotonic_ns()), str(number)))
        number += 1
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
