"""The three parts of the bench: images in, commands out, and the loop beside it all."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from contract.errors import RigError
from contract.layout import JOINT_MASK
from contract.station import Camera, load_station
from robot_client.bench.loop_window import loop_window
from robot_client.bench.stand import Stand
from robot_client.cameras.pattern import picture
from robot_client.cameras.shelf import FrameShelf
from robot_client.clock import NS_PER_S
from robot_client.episodes.ros_time import ros_time_now
from robot_client.mailbox import memory_directory, open_writer
from robot_client.rigs.base import Frame
from robot_client.twin.topics import COMMAND_BYTES, Command, pack_command, path_of
from yam_vam.image_topics import ImageTopics
from yam_vam.qos_watch import QosWatch
from yam_vam.topics import table

START_S: Final = 60.0
COMMAND_HZ: Final = 100
_STEP: Final = 1e-6
"""Difference of one command to the next, by which it is known again [rad]."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Length of each part, and the made-up cameras."""

    seconds: float
    width: int
    height: int
    rate_hz: float

    @property
    def cameras(self) -> tuple[Camera, ...]:
        """The twin's roles at the bench's size."""
        change = {"width": self.width, "height": self.height, "rate_hz": self.rate_hz}
        return tuple(camera.model_copy(update=change) for camera in load_station("twin").cameras)

    def talker(self, offset_ns: int, seconds: float) -> list[str]:
        """Command line of the three publishers."""
        names = {"seconds": seconds, "width": self.width, "height": self.height, "rate": self.rate_hz}
        options = [f"--{name}={value}" for name, value in {**names, "ros-offset-ns": offset_ns}.items()]
        return [sys.executable, "-m", "yam_vam.bench.talker", *options]


@contextmanager
def _running(command: list[str], **options: Any) -> Any:
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait(5)


@dataclass(frozen=True, slots=True)
class Came:
    """What came of the images: delays [ns], how many, and how many there were from the first that came to the last."""

    delays_ns: list[int]
    count: int
    sent: int


def images_by_topic(plan: Plan) -> Came:
    """From just before `publish` in one process to the mailbox of another, where the planner reads."""
    node, time_map = Node("bench_cameras"), ros_time_now()
    with tempfile.TemporaryDirectory(dir=memory_directory()) as folder:
        topics = _Timed(QosWatch(node, print), print, plan.cameras, Path(folder), time_map)
        topics.numbers = {camera.role: [] for camera in plan.cameras}
        topics.delays = []
        topics.open({camera.role: "" for camera in plan.cameras})
        with _running(plan.talker(time_map.offset_ns, plan.seconds + 2.0)) as talker:
            _spin(node, lambda: talker.poll() is not None, plan.seconds + START_S)
        topics.close()
    node.destroy_node()
    numbers = [found for found in topics.numbers.values() if found]
    sent = sum(found[-1] - found[0] + 1 for found in numbers)
    return Came(topics.delays[3 * int(plan.rate_hz) :], sum(map(len, numbers)), sent)


def images_without_ros(plan: Plan) -> list[int]:
    """The same pictures put into the mailbox by their own process: what is there without ROS."""
    image = picture("bench", plan.height, plan.width, 0)
    took: list[int] = []
    with tempfile.TemporaryDirectory(dir=memory_directory()) as folder:
        shelf = FrameShelf(Path(folder), plan.cameras)
        shelf.open()
        for _ in range(300):
            begun = time.monotonic_ns()
            shelf.put(Frame(plan.cameras[0].role, image, begun))
            took.append(time.monotonic_ns() - begun)
            time.sleep(0.002)
        shelf.close()
    return took


def commands_by_topic(plan: Plan) -> list[int]:
    """Nanoseconds from the loop's command mailbox to /joint_commands in a third process's callback."""
    node, topic = Node("bench_driver"), table()["/joint_commands"]
    sent: dict[int, int] = {}
    delays: list[int] = []

    def told(message: Any) -> None:
        number = round(message.position[0] / _STEP)
        if number in sent:
            delays.append(time.monotonic_ns() - sent.pop(number))

    node.create_subscription(topic.kind, topic.name, told, topic.qos)
    with tempfile.TemporaryDirectory(dir=memory_directory()) as folder:
        mailbox = open_writer(path_of(Path(folder), "command"), COMMAND_BYTES)
        command = [sys.executable, "-m", "yam_vam.arms_bridge", "--run-dir", folder]
        with _running(command, stdin=subprocess.PIPE):
            _command(node, mailbox, sent, delays, plan.seconds)
        mailbox.close()
    node.destroy_node()
    return delays[COMMAND_HZ:]


def lateness(plan: Plan, with_images: bool) -> list[int]:
    """Lateness of each tick of the real loop [ns], alone or beside three camera streams and their subscriber."""
    with tempfile.TemporaryDirectory(dir=memory_directory()) as folder, Stand(Path(folder)) as stand:
        ticks = int(plan.seconds * NS_PER_S / stand.period_ns)
        if not with_images:
            return np.concatenate(loop_window(Path(folder), ticks, stand).lateness_ns).tolist()
        frames = Path(folder) / "frames"
        node = [sys.executable, "-m", "yam_vam.bench.listener", str(frames), str(plan.width), str(plan.height)]
        talk = plan.talker(ros_time_now().offset_ns, plan.seconds + START_S)
        with _running(node, stdout=subprocess.PIPE, text=True) as listener, _running(talk):
            if not (listener.stdout is not None and listener.stdout.readline().startswith("HEARD")):
                raise RigError("bench", expected="three camera streams", got="none")
            return np.concatenate(loop_window(Path(folder), ticks, stand).lateness_ns).tolist()


class _Timed(ImageTopics):
    """Notes how old each image is once it lies in the mailbox, and its number."""

    delays: list[int]
    numbers: dict[str, list[int]]

    def came(self, role: str, message: Any) -> None:
        self.numbers[role].append(int(message.header.frame_id))
        super().came(role, message)

    def kept(self, frame: Frame) -> None:
        self.delays.append(time.monotonic_ns() - frame.stamp_ns)


def _spin(node: Node, over: Callable[[], bool], seconds: float) -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    until_s = time.monotonic() + seconds
    while not over() and time.monotonic() < until_s:
        executor.spin_once(timeout_sec=0.05)
    executor.shutdown(timeout_sec=1.0)


def _command(node: Node, mailbox: Any, sent: dict[int, int], delays: list[int], seconds: float) -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    number, next_s = 0, time.monotonic()
    until_s, begun_s = next_s + START_S, 0.0
    while time.monotonic() < (begun_s + seconds if begun_s else until_s):
        if time.monotonic() >= next_s:
            number, next_s = number + 1, next_s + 1.0 / COMMAND_HZ
            sent[number] = time.monotonic_ns()
            mailbox.put(pack_command(Command(JOINT_MASK * number * _STEP, None)), sent[number])
        executor.spin_once(timeout_sec=max(0.0, min(0.01, next_s - time.monotonic())))
        begun_s = begun_s or (time.monotonic() if delays else 0.0)
    executor.shutdown(timeout_sec=1.0)
