"""One node in one process: from `rclpy.init` to the last line, with signals that always lead to an orderly end.

rclpy's own handlers are not installed: they close the context first, and then nothing can be published or said any
more while arms are still moving. Here the node ends first, then ROS.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Final

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from contract.errors import StackError
from robot_client.clock import NS_PER_S, Clock, MonotonicClock
from robot_client.demo.interrupt import STOPS
from yam_vam.managed import DONE, ManagedNode
from yam_vam.middleware import make_room_for_images

SPIN_S: Final = 0.05
RETRY_NS: Final = 2 * NS_PER_S
LAUNCH_PID: Final = "YAM_LAUNCH_PID"
"""Environment variable by which a launch file says who starts the node."""


class Signals:
    """Counts SIGINT, SIGTERM and Ctrl-Z's SIGTSTP, and the end of the launch that started this node as one more.
    Called: the count."""

    def __init__(self) -> None:
        self._count = 0
        self._launch_pid = 0

    def install(self) -> None:
        """From now on none of them ends the process, or stops it with nobody left to hear ~/hold."""
        for number in STOPS:
            signal.signal(number, self._came)
        self._launch_pid = int(os.environ.get(LAUNCH_PID) or 0)

    def __call__(self) -> int:
        return self._count + self.orphaned()

    def orphaned(self) -> bool:
        """Whether launch died without a word, as by kill -9: nobody could end this node by Ctrl-C any more."""
        return self._launch_pid != 0 and os.getppid() != self._launch_pid

    def _came(self, number: int, frame: FrameType | None) -> None:
        self._count += 1

    @staticmethod
    def ignore() -> None:
        """While Python leaves: everything is done, and the exit code is to be ours."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


class Autostart:
    """Takes the node as far as its parameter says, trying again every two seconds; never a second time."""

    def __init__(self, node: ManagedNode, clock: Clock) -> None:
        self._node, self._clock = node, clock
        goal = str(node.get_parameter("autostart").value)
        self._left = {"activate": ["configure", "activate"], "configure": ["configure"]}.get(goal, [])
        self._next_ns = 0

    def step(self) -> None:
        """One try, if it is time."""
        if not self._left or self._clock.now_ns() < self._next_ns:
            return
        trigger = {"configure": self._node.trigger_configure, "activate": self._node.trigger_activate}
        self._node.by_itself = True
        done = trigger[self._left[0]]() == DONE
        self._node.by_itself = False
        if done:
            self._left.pop(0)
        else:
            self._next_ns = self._clock.now_ns() + RETRY_NS


def run_node(make: Callable[[Signals], ManagedNode], arguments: Sequence[str] | None = None) -> int:
    """Run until a signal, the node's own end, or the end of its context; the exit code."""
    signals = Signals()
    signals.install()
    try:
        make_room_for_images()
        rclpy.init(args=list(arguments or sys.argv), signal_handler_options=SignalHandlerOptions.NO)
        node = make(signals)
    except (StackError, ParameterException) as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        rclpy.try_shutdown()
        return 2
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        node.begin()
        _spin(node, executor, signals)
    finally:
        begun_ns = time.monotonic_ns()
        node.end()
        node.get_logger().info(f"ended in {(time.monotonic_ns() - begun_ns) / NS_PER_S:.2f} s")
        executor.shutdown(timeout_sec=1.0)
        node.destroy_node()
        rclpy.try_shutdown()
        signals.ignore()
    return node.exit_code


def _spin(node: ManagedNode, executor: SingleThreadedExecutor, signals: Signals) -> None:
    autostart = Autostart(node, MonotonicClock())
    try:
        while not (signals() or node.over):
            autostart.step()
            executor.spin_once(timeout_sec=SPIN_S)
        if signals.orphaned():
            node.get_logger().error("the launch that started this node is gone: ending")
    except ExternalShutdownException:
        node.get_logger().info("the context was shut down from outside")
