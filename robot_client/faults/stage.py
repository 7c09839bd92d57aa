"""Servers, a proxy and robots of the rehearsal, and spares for those that are killed."""

from __future__ import annotations

import select
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final

from contract.errors import RigError
from robot_client.demo.children import Child, end_all, start_child
from robot_client.faults.nursery import Nursery
from robot_client.faults.robot import Robot
from robot_client.faults.station import write_station
from robot_client.link.proxy import TcpProxy, tcp_proxy

START_S: Final = 60.0
_NOWHERE: Final = ("127.0.0.1", 9)
"""The discard port, where nobody listens."""


class Stage:
    """A context. `server`, `robot` and `proxy` are the present ones; the robot reaches the server through the proxy."""

    server: Child
    robot: Robot
    proxy: TcpProxy

    def __init__(self, bundle: Path | None = None, instruction: str = "go") -> None:
        """`bundle`: serve that policy, on the twin's own station, instead of a script on one with short plans."""
        self._bundle, self._instruction = bundle, instruction
        self._stack = ExitStack()
        self._nursery = Nursery()
        self._spare_server: Child | None = None
        self._spare_robot: Robot | None = None
        self._inject = ""
        self._servers = 0

    def __enter__(self) -> Stage:
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="yam-faults-")))
        self.station = write_station(self._folder) if self._bundle is None else "twin"
        self._nursery.start()
        self._stack.callback(self._nursery.close)
        self._stack.callback(self._end)
        self.server = self._new_server()
        address = self.server.wait_for_line("READY ", START_S).split()[1]
        self.proxy = self._stack.enter_context(tcp_proxy(address))
        self._home = self.proxy.target
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def fit_robot(self, inject: str) -> None:
        """A fresh robot with these faults, ready and standing."""
        self._inject = inject
        self._drop_robots()
        self.robot = self._new_robot()
        self._until_ready()

    def spare_robot(self) -> None:
        """Start the next robot already."""
        self._spare_robot = self._spare_robot or self._new_robot()

    def next_robot(self) -> None:
        """The spare takes the place of one that was killed."""
        self.robot.end()
        self.robot, self._spare_robot = self._spare_robot or self._new_robot(), None
        self._until_ready()

    def spare_server(self) -> None:
        """Start the next server already."""
        self._spare_server = self._spare_server or self._new_server()

    def next_server(self) -> None:
        """The spare takes the place of one that was killed, behind the same address."""
        end_all([self.server], 0.5)
        spare, self._spare_server = self._spare_server or self._new_server(), None
        self.server = spare
        host, port = spare.wait_for_line("READY ", START_S).split()[1].removeprefix("tcp://").rsplit(":", 1)
        self._home = self.proxy.target = (host, int(port))

    def tell_server(self, mode: str) -> None:
        """A mode of `scripted_server`."""
        pipe = self.server.process.stdin
        if pipe is not None and self.server.running:
            pipe.write(f"{mode}\n".encode())
            pipe.flush()

    def cut(self) -> None:
        """No connection, and none to be had."""
        self.proxy.target = _NOWHERE
        self.proxy.cut()

    def mend(self) -> None:
        """Connections lead to the server again, at once and in fair weather."""
        self.proxy.target = self._home
        self.proxy.weather.frozen, self.proxy.weather.delay_s = False, 0.0

    def now_ns(self) -> int:
        """The clock of everything that is measured."""
        return time.monotonic_ns()

    def run(self, over: Callable[[], bool], seconds: float) -> bool:
        """Take messages until `over`, at most so long; whether it came true."""
        until_s = time.monotonic() + seconds
        while not over():
            left_s = until_s - time.monotonic()
            if left_s <= 0.0:
                return False
            select.select(self.robot.wait_on(), (), (), min(0.005, left_s))
            self.robot.step()
        return True

    def _until_ready(self) -> None:
        robot = self.robot
        self.server.require_running()
        if not self.run(lambda: robot.ready and robot.mode in ("IDLE", "HOLD"), START_S):
            raise RigError("robot of the rehearsal", expected="a policy and torque", got=f"mode {robot.mode}")

    def _new_server(self) -> Child:
        self._servers += 1
        name = f"server{self._servers}"
        if self._bundle is None:
            module = "robot_client.faults.scripted_server"
            return self._nursery.spawn(name, module, [self.station], self._folder, eof=True)
        args = ["policy_server", "serve", "--bundle", str(self._bundle), "--bind", "tcp://127.0.0.1:0"]
        return start_child(name, [*args, "--threads", "1", "--stop-with-stdin"], self._folder, eof=True)

    def _new_robot(self) -> Robot:
        robot = Robot(self._nursery, self._folder, self.station, self.proxy.address, self._inject, self._instruction)
        robot.start()
        return robot

    def _drop_robots(self) -> None:
        for robot in (getattr(self, "robot", None), self._spare_robot):
            if robot is not None:
                robot.end()
        self._spare_robot = None

    def _end(self) -> None:
        self._drop_robots()
        end_all([child for child in (getattr(self, "server", None), self._spare_server) if child is not None], 1.0)
