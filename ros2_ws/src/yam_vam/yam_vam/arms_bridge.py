"""`arms_bridge`: the arms behind topics as the mailboxes of `robot_client.rigs.ros`. The client starts it, for rig ros.

/joint_states -> mailbox `joints`; mailbox `command` -> /joint_commands. A process of its own, so that neither the
client's executor nor its images stand between the loop and the arms; real-time like the loop, one step below it; of
every topic it keeps the newest message only. It outlives the client for as long as the loop still commands, so that
the loop's braking reaches the arms. When commands end, nothing is published: a silent /joint_commands means "hold" to
whoever drives the arms.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

from contract.errors import FieldError, StackError
from robot_client.clock import NS_PER_S
from robot_client.episodes.ros_time import RosTime, ros_time_now
from robot_client.mailbox import MailboxReader, MailboxWriter, open_writer
from robot_client.realtime import PRIORITY, fifo, freeze_garbage
from robot_client.twin.topics import JOINTS_BYTES, JSON_BYTES, pack_joints, path_of, unpack_command
from yam_vam.joint_gather import JointGather
from yam_vam.joint_states import message_of
from yam_vam.qos_watch import QosWatch
from yam_vam.stamps import Stamps
from yam_vam.topics import newest_only, table

STEP_S: Final = 0.002
"""Between two looks at the command mailbox; a command waits half of it on average."""
STATUS: Final = "arms_bridge"
"""Mailbox with the bridge's own state."""
STATUS_NS: Final = NS_PER_S // 4
SERVE_S: Final = 8.0
"""After its client is gone the loop brakes, holds and ends within this time."""
QUIET_S: Final = 0.5


class ArmsBridge(Node):
    """Callbacks on the executor's thread; `step` on the other one."""

    def __init__(self, run_dir: Path, joint_topics: Sequence[str], time_map: RosTime) -> None:
        super().__init__("arms_bridge")
        self._run_dir, self._joint_topics, self._time = run_dir, joint_topics, time_map
        self._gather = JointGather(joint_topics, Stamps(time_map))
        self._command = MailboxReader(path_of(run_dir, "command"))
        self._joints: MailboxWriter | None = None
        self._status: MailboxWriter | None = None
        self._publisher: Any = None
        self._done = 0
        self._status_due_ns = 0
        self.commanded_ns = 0
        self.received = self.refused = 0
        self.refusal = ""
        self.scheduler = "not asked for"
        self.watch = QosWatch(self, self.get_logger().error)

    def open(self) -> None:
        """Take the mailboxes, make both ends. Raises `RigError` when another process fills them."""
        self._joints = open_writer(path_of(self._run_dir, "joints"), JOINTS_BYTES)
        self._status = open_writer(path_of(self._run_dir, STATUS), JSON_BYTES)
        topics = table()
        states, commands = topics["/joint_states"], topics["/joint_commands"]
        for topic in self._joint_topics:
            take = partial(self._measured, topic)
            self.watch.subscribe(topic, states.kind, newest_only(states.qos), take, alone=True)
        self._publisher = self.watch.advertise(commands.name, commands.kind, commands.qos, alone=True)

    def close(self) -> None:
        """Let go of the mailboxes; what was measured last stays readable and ages."""
        for mailbox in (self._joints, self._status, self._command):
            if mailbox is not None:
                mailbox.close()
        self._joints = self._status = None

    def step(self) -> None:
        """Pass a new command on; say how things are four times a second."""
        letter = self._command.newer_than(self._done)
        now_ns = time.monotonic_ns()
        if letter is not None:
            self._done, self.commanded_ns = letter.sequence, now_ns
            command = unpack_command(letter)
            if command.stop is None:
                self._publisher.publish(message_of(command.target, self._time.of(letter.stamp_ns)))
        if now_ns >= self._status_due_ns:
            self._status_due_ns = now_ns + STATUS_NS
            self._say(now_ns)

    def _measured(self, topic: str, message: Any) -> None:
        now_ns = time.monotonic_ns()
        try:
            reading = self._gather.take(topic, message, now_ns)
        except FieldError as error:
            self.refused += 1
            self.refusal = f"{topic}: {error}"
            self.get_logger().error(self.refusal, throttle_duration_sec=2.0)
            return
        if reading is not None and self._joints is not None:
            self.received += 1
            self.refusal = ""
            self._joints.put(pack_joints(reading.positions, reading.velocities), reading.stamp_ns)

    def _say(self, now_ns: int) -> None:
        state = {
            "trouble": "; ".join((*self.watch.troubles.values(), *((self.refusal,) if self.refusal else ())))[:2000],
            "joint_states": self.received,
            "joint_states_refused": self.refused,
            "stamps_flagged": self._gather.flagged,
            "bridge scheduler": self.scheduler,
        }
        if self._status is not None:
            self._status.put(json.dumps(state).encode(), now_ns)


def _serve(bridge: ArmsBridge) -> None:
    """Until the client is gone (standard input ends) and the loop says nothing more."""
    ended: list[int] = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: ended.append(number))
    gone_ns = 0
    while not ended:
        bridge.step()
        now_ns = time.monotonic_ns()
        if gone_ns:
            quiet_s = (now_ns - max(bridge.commanded_ns, gone_ns)) / NS_PER_S
            if quiet_s > QUIET_S or now_ns - gone_ns > SERVE_S * NS_PER_S:
                return
        elif _input_ended():
            gone_ns = now_ns
        time.sleep(STEP_S)


def _input_ended() -> bool:
    readable, _, _ = select.select([sys.stdin], (), (), 0)
    return bool(readable) and os.read(sys.stdin.fileno(), 4096) == b""


def _spin(executor: SingleThreadedExecutor) -> None:
    try:
        executor.spin()
    except ExternalShutdownException:
        return


def main() -> int:
    """Entry point: `python -m yam_vam.arms_bridge --run-dir DIR [--joint-topic T ...] [--ros-args ...]`."""
    parser = argparse.ArgumentParser(prog="python -m yam_vam.arms_bridge")
    parser.add_argument("--run-dir", type=Path, required=True, help="folder of the mailboxes of rig ros")
    parser.add_argument(
        "--joint-topic", action="append", default=[], help="topic with joints; one, or one for each arm"
    )
    parser.add_argument("--realtime", action="store_true", help="ask for SCHED_FIFO, one step below the loop")
    asked = parser.parse_args(remove_ros_args(sys.argv)[1:])
    # Before ROS starts its threads, which inherit it.
    scheduler = fifo(PRIORITY - 1) if asked.realtime else "not asked for"
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    bridge = ArmsBridge(asked.run_dir, asked.joint_topic or ["joint_states"], ros_time_now())
    bridge.scheduler = scheduler
    try:
        bridge.open()
    except StackError as error:
        print(f"arms_bridge: {error}", file=sys.stderr, flush=True)
        return 2
    freeze_garbage()
    _run(bridge)
    return 0


def _run(bridge: ArmsBridge) -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(bridge)
    thread = threading.Thread(target=_spin, args=(executor,), name="ros")
    thread.start()
    try:
        _serve(bridge)
    finally:
        executor.shutdown(timeout_sec=1.0)
        thread.join(2.0)
        bridge.destroy_node()
        bridge.close()
        rclpy.try_shutdown()


if __name__ == "__main__":
    sys.exit(main())
