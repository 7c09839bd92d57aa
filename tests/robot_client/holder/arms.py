"""A station with emulated arms in a folder of its own, and real holder processes on it."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import numpy as np

from contract.layout import ARMS, Arm
from contract.station import Station, load_station
from robot_client.clock import MonotonicClock
from robot_client.emulator.port import FAULT_BYTES, truth_of
from robot_client.holder.client import ArmClient
from robot_client.holder.messages import ArmState, Hold
from robot_client.holder.start import Started, clients, start_holders
from robot_client.mailbox import MailboxReader, open_writer
from robot_client.rigs.base import Stop
from robot_client.rigs.yam import YamRig

EXAMPLE = Path(__file__).parents[3] / "calibration/stations/yam_example.toml"
RAISED = np.array([0.2, 0.8, 0.8, 0.0, 0.0, 0.0, 0.5])


class EmulatedStation:
    """`start` holders, `close` them whatever state they are in."""

    def __init__(self, folder: Path, **changes: str) -> None:
        self.folder = folder
        text = EXAMPLE.read_text().replace('bus = "socketcan"', 'bus = "emulated"')
        text = text.replace("heartbeat_ms = 100.0", "heartbeat_ms = 200.0")  # the machine may be busy
        text = text.replace("joints_max_age_ms = 50.0", "joints_max_age_ms = 500.0")
        text = text.replace("loop_hz = 200.0", "loop_hz = 100.0")
        for old, new in changes.items():
            text = text.replace(old, new)
        self.path = folder / "station.toml"
        self.path.write_text(text)
        self.run_dir = folder / "run"
        self.run_dir.mkdir()
        self.pids: list[int] = []

    @property
    def station(self) -> Station:
        return load_station(str(self.path))

    def start(self, arms: tuple[Arm, ...] = ARMS) -> dict[Arm, Started]:
        started = start_holders(str(self.path), str(self.run_dir), arms, realtime=False)
        self.pids += [each.pid for each in started.values()]
        return started

    def client(self, arm: Arm) -> ArmClient:
        return clients(self.station, str(self.run_dir))[arm]

    def rig(self) -> YamRig:
        return YamRig(self.station, self.run_dir, MonotonicClock())

    def fault(self, arm: Arm, **faults: object) -> None:
        writer = open_writer(self.run_dir / f"{arm}.faults.mail", FAULT_BYTES)
        writer.put(json.dumps(faults).encode(), time.monotonic_ns())
        writer.close()

    def truth(self, arm: Arm) -> tuple[np.ndarray, np.ndarray]:
        """Where the emulated joints really are, and which motors have torque."""
        reader = MailboxReader(self.run_dir / f"{arm}.truth.mail")
        letter = reader.newest()
        assert letter is not None
        values = truth_of(letter.payload)
        reader.close()
        return values

    def close(self) -> None:
        for pid in self.pids:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                continue


def state_of(client: ArmClient) -> ArmState:
    """Newest state."""
    return client.state()[0]


def go(client: ArmClient, target: np.ndarray, then_hold: bool = False) -> None:
    """Take an arm somewhere in small steps, however often a busy machine makes us late and it is held meanwhile."""
    at = state_of(client).held
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        state = state_of(client)
        if client.held_against_us(state):
            at = state.held
        if np.array_equal(state.held, target) and np.abs(state.positions - target).max() < 0.06:
            break
        at = at + np.clip(target - at, -0.02, 0.02)
        at = np.where(np.abs(at - target) < 1e-9, target, at)
        client.follow(at)
        time.sleep(0.01)
    if then_hold:
        client.stop(Stop.HOLD, confirmed=False)


def is_holding(client: ArmClient) -> bool:
    """Torque on, target frozen."""
    return state_of(client).hold is Hold.HOLDING
