"""The twin's cameras in a thread of their own, so that physics never waits for a picture."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from contract.errors import RigError, StackError
from robot_client.mailbox import MailboxWriter, open_writer
from robot_client.pacer import Periods
from robot_client.twin.cameras import OVERVIEW, POLICY_ROLES, Size
from robot_client.twin.renderer import Renderer
from robot_client.twin.topics import camera_topic, frame_bytes, pack_frame, path_of

_NAP_S: Final = 0.05
_JOIN_S: Final = 3.0
_OPEN_S: Final = 15.0


class Snapshot:
    """The newest state of the physics, handed from its thread to the cameras' in two short copies."""

    def __init__(self, data: mujoco.MjData) -> None:
        self._lock = threading.Lock()
        self._state = _copied(data)
        self._stamp_ns = 0

    def take(self, data: mujoco.MjData, stamp_ns: int) -> None:
        """Copy a state in; `stamp_ns` is when the physics reached it."""
        state = _copied(data)
        with self._lock:
            self._state, self._stamp_ns = state, stamp_ns

    def give(self, data: mujoco.MjData) -> int:
        """Copy the state out, bring bodies and cameras to it, and return its stamp."""
        with self._lock:
            state, stamp_ns = self._state, self._stamp_ns
        data.qpos[:], data.mocap_pos[:], data.mocap_quat[:] = state
        return stamp_ns


def _copied(data: mujoco.MjData) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    return data.qpos.copy(), data.mocap_pos.copy(), data.mocap_quat.copy()


class Filming(threading.Thread):
    """Renders roles at their rates and publishes each frame with the stamp of the state it shows."""

    def __init__(
        self,
        model: mujoco.MjModel,
        snapshot: Snapshot,
        run_dir: Path,
        sizes: Mapping[str, Size],
        rates_hz: Mapping[str, float],
        *,
        shadows: bool,
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        super().__init__(name="cameras", daemon=True)
        self._model, self._snapshot, self._sizes, self._shadows = model, snapshot, sizes, shadows
        self._run_dir, self._clock_ns = run_dir, clock_ns
        self._roles = {role: hz for role, hz in rates_hz.items() if hz > 0}
        self._stopping = threading.Event()
        self._opened = threading.Event()
        self.error: StackError | None = None
        self.frames = 0

    def run(self) -> None:
        """Thread body; a `StackError` ends it and stays in `error`."""
        try:
            self._film()
        except StackError as error:
            self.error = error
        finally:
            self._opened.set()

    def wait_open(self) -> None:
        """Wait, bounded, until the context is open: opening it keeps the interpreter from physics for a while."""
        if not self._opened.wait(_OPEN_S):
            raise RigError("cameras of the twin", expected=f"an OpenGL context in {_OPEN_S:g} s", got="silence")
        if self.error is not None:
            raise self.error

    def finish(self) -> None:
        """Stop and wait, bounded, for the context to be freed."""
        self._stopping.set()
        self.join(_JOIN_S)

    def _film(self) -> None:
        renderer = Renderer(self._model, self._sizes, shadows=self._shadows)
        writers = {role: self._open(role) for role in self._roles}
        data = mujoco.MjData(self._model)
        self._opened.set()
        start_ns = self._clock_ns()
        pacers = {role: Periods(start_ns, round(1e9 / hz), 1) for role, hz in self._roles.items()}
        try:
            while not self._stopping.is_set():
                now_ns = self._clock_ns()
                due = [role for role, pacer in pacers.items() if pacer.due(now_ns)]
                if due:
                    self._shoot(renderer, data, due, writers)
                else:
                    wait_s = (min((p.next_ns for p in pacers.values()), default=now_ns) - now_ns) / 1e9
                    self._stopping.wait(min(max(wait_s, 0.0005), _NAP_S))
        finally:
            renderer.close()
            for writer in writers.values():
                writer.close()

    def _shoot(
        self, renderer: Renderer, data: mujoco.MjData, roles: list[str], writers: Mapping[str, MailboxWriter]
    ) -> None:
        """All roles that are due show one and the same moment, as hardware-triggered cameras would."""
        stamp_ns = self._snapshot.give(data)
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_camlight(self._model, data)
        for role in roles:
            writers[role].put(pack_frame(renderer.render(data, role)), stamp_ns)
            self.frames += 1

    def _open(self, role: str) -> MailboxWriter:
        size = self._sizes[role]
        return open_writer(path_of(self._run_dir, camera_topic(role)), frame_bytes(size.width, size.height))


def rates(policy_hz: float, overview_hz: float) -> dict[str, float]:
    """Frames a second by role."""
    return {**dict.fromkeys(POLICY_ROLES, policy_hz), OVERVIEW: overview_hz}
