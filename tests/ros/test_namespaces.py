"""Two stations on one network, each under a namespace of its own: neither sees, hears or moves the other."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rclpy.node import Node
from sensor_msgs.msg import JointState
from spinning import Spin, spinning
from std_srvs.srv import Trigger
from yam_vam.joint_states import message_of, part_of, vector_of
from yam_vam.topics import table

from contract.station import load_station

pytestmark = pytest.mark.usefixtures("ros")

HOME = load_station("twin").poses.home.vector()
CELLS = {"left_cell": HOME, "right_cell": HOME + np.where(np.arange(14) == 1, 0.2, 0.0)}


class Cell(Node):
    """The arms of one station, standing where they are, and what a person in that cell sees and asks."""

    def __init__(self, name: str, pose: np.ndarray) -> None:
        super().__init__("driver", namespace=name)
        self.modes: list[str] = []
        self.told: list[np.ndarray] = []
        self.values = pose
        states, commands, mode = (table()[name] for name in ("/joint_states", "/joint_commands", "/mode"))
        self._states = self.create_publisher(JointState, states.name, states.qos)
        take = lambda m: self.told.append(vector_of([part_of(m)]))  # noqa: E731
        self.create_subscription(commands.kind, commands.name, take, commands.qos)
        self.create_subscription(
            mode.kind, mode.name, lambda m: self.modes.append(json.loads(m.data)["mode"]), mode.qos
        )
        self.create_timer(0.01, self._publish)

    def _publish(self) -> None:
        self._states.publish(message_of(self.values, self.get_clock().now().nanoseconds))


@pytest.fixture
def cells(tmp_path: Path) -> Iterator[tuple[dict[str, Cell], Spin]]:
    """A client for each cell, in a process of its own as always, on arms behind topics."""
    processes = []
    for name in CELLS:
        values = {"rig": "ros", "logs": str(tmp_path / name), "autostart": "activate", "realtime": "false"}
        given = [part for key, value in values.items() for part in ("-p", f"{key}:={value}")]
        command = [sys.executable, "-m", "yam_vam.client", "--ros-args", "-r", f"__ns:=/{name}", *given]
        with (tmp_path / f"{name}.log").open("wb") as log:
            processes.append(subprocess.Popen(command, stdout=log, stderr=log))
    found = {name: Cell(name, pose) for name, pose in CELLS.items()}
    try:
        with spinning(*found.values()) as spin:
            yield found, spin
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)


def ask(cell: Cell, spin: Spin, name: str) -> Any:
    return spin.call(cell, Trigger, f"client/{name}")


def test_what_is_said_in_one_cell_is_not_heard_in_the_other(cells: tuple[dict[str, Cell], Spin]) -> None:
    """Topics and services begin without a slash, so a namespace holds a whole station."""
    found, spin = cells
    left, right = found["left_cell"], found["right_cell"]
    spin.until(lambda: "IDLE" in left.modes and "IDLE" in right.modes, 90.0, "both clients with torque on")
    spin.until(lambda: bool(left.told) and bool(right.told), what="commands in both cells")
    for cell in found.values():
        assert cell.told[-1] == pytest.approx(cell.values, abs=1e-3), "each is held where its own arms stand"
    assert ask(left, spin, "hold").success
    spin.until(lambda: left.modes[-1] == "HOLD", what="HOLD in the left cell")
    heard = len(right.told)
    spin.until(lambda: len(right.told) > heard + 20, what="the right cell going on")
    assert right.modes[-1] == "IDLE"
    names = {name for name, _ in left.get_topic_names_and_types() if "/joint_" in name}
    assert {f"/{cell}/joint_{what}" for cell in CELLS for what in ("states", "commands", "requests")} == names
