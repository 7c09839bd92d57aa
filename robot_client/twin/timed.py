"""The twin as a `Rig` and a `Clock` at once: simulated time passes while somebody sleeps on it.

Joints, commands and images can be given delays, and joints wrong zeros, that whoever measures does not know. An image
is drawn when somebody takes it, of the moment it was captured, so that pictures nobody wants cost nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from contract.errors import RigError
from contract.layout import GRIPPER_MASK, SIZE
from robot_client.clock import NS_PER_S
from robot_client.rigs.base import Frame, JointReading, Stop
from robot_client.twin.board import BoardPicture, Place, hide_things, show_board
from robot_client.twin.cameras import POLICY_ROLES, Size
from robot_client.twin.layouts import make_layout
from robot_client.twin.renderer import Renderer
from robot_client.twin.scene import build_model
from robot_client.twin.things import PLACES, THINGS
from robot_client.twin.world import World

_START_NS: Final = 10 * NS_PER_S
_LONGEST_DELAY_NS: Final = NS_PER_S
"""History that is kept."""


@dataclass(frozen=True, slots=True)
class Delays:
    """What lies between the twin and whoever reads and commands it [ns]; whole physics steps."""

    command_ns: int = 0
    gripper_ns: int = 0
    """On top of the command's."""
    joints_ns: int = 0
    """From the measurement to its stamp, which is the arrival."""
    camera_ns: int = 0
    """From the exposure to the stamp, which is the arrival."""


@dataclass(frozen=True, slots=True, eq=False)
class _Past:
    stamp_ns: int
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    state: NDArray[np.float64]


class TimedRig:
    """Both arms and three cameras of a size, with a board that can be shown. Close it in the thread that made it."""

    def __init__(
        self,
        board: BoardPicture,
        size: Size,
        rate_hz: float = 30.0,
        delays: Delays = Delays(),
        step_s: float = 0.005,
        zero_rad: Sequence[float] = (0.0,) * SIZE,
    ) -> None:
        """`zero_rad` (14,): what each joint reads more than it is, and goes less far than it is told."""
        self._sizes = dict.fromkeys(POLICY_ROLES, size)
        self._model = build_model(self._sizes, board=board)
        self._model.opt.timestep = step_s
        hide_things(self._model, (*THINGS, *PLACES))
        self._world, self._shown = World(self._model), mujoco.MjData(self._model)
        self._world.reset(make_layout(0))
        self._delays, self._step_ns = delays, round(step_s * NS_PER_S)
        self._frame_ns = round(NS_PER_S / rate_hz)
        self._now_ns = _START_NS
        self._past: deque[_Past] = deque()
        self._coming: deque[tuple[int, NDArray[np.float64]]] = deque()
        self._zero = np.asarray(zero_rad, np.float64)
        self._target = self._world.target
        self._renderer: Renderer | None = None
        self._remember()

    @property
    def data(self) -> mujoco.MjData:
        """The truth. For tests; who calibrates must not look."""
        return self._world.data

    @property
    def model(self) -> mujoco.MjModel:
        """The truth, likewise."""
        return self._model

    def show(self, place: Place | None) -> None:
        """What a person's hands do: the board to another place."""
        show_board(self._model, place)

    def now_ns(self) -> int:
        return self._now_ns

    def sleep_until_ns(self, deadline_ns: int) -> None:
        """Physics up to the deadline."""
        while self._now_ns < deadline_ns:
            self._take_commands()
            self._world.step()
            self._now_ns += self._step_ns
            self._remember()

    def open(self) -> None:
        """Nothing to get ready."""

    def joints(self) -> JointReading:
        """As measured a delay ago, stamped with its arrival."""
        past = self._at(self._now_ns - self._delays.joints_ns)
        positions = past.positions + self._zero
        return JointReading(positions, past.velocities, min(past.stamp_ns + self._delays.joints_ns, self._now_ns))

    def frames(self) -> Mapping[str, Frame]:
        """The newest image of each camera that has arrived, drawn when it is taken out."""
        captured_ns = (self._now_ns - self._delays.camera_ns - _START_NS) // self._frame_ns * self._frame_ns + _START_NS
        past = self._at(captured_ns)
        # The physics step that is drawn is the moment of exposure, not the camera's own beat up to a step later.
        return _Drawn(self, past.state, past.stamp_ns + self._delays.camera_ns)

    def draw(self, role: str, state: NDArray[np.float64]) -> NDArray[np.uint8]:
        """(height, width, 3) of a state of the joints."""
        if self._renderer is None:
            self._renderer = Renderer(self._model, self._sizes, shadows=False)
        self._shown.qpos[:] = state
        mujoco.mj_kinematics(self._model, self._shown)
        mujoco.mj_camlight(self._model, self._shown)
        return self._renderer.render(self._shown, role)

    def command(self, target: NDArray[np.float64]) -> None:
        values = np.asarray(target, np.float64)
        if values.shape != self._target.shape or not np.isfinite(values).all():
            raise RigError("command", expected=f"{self._target.shape} finite values", got=values)
        self._coming.append((self._now_ns, values - self._zero))

    def stop(self, how: Stop) -> None:
        """HOLD keeps the target; the other two let go."""
        self._world.power(how)

    def close(self) -> None:
        """Free the OpenGL context."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _take_commands(self) -> None:
        arm_ns = self._delays.command_ns
        for given_ns, values in self._coming:
            if given_ns + arm_ns <= self._now_ns:
                self._target = np.where(GRIPPER_MASK, self._target, values)
            if given_ns + arm_ns + self._delays.gripper_ns <= self._now_ns:
                self._target = np.where(GRIPPER_MASK, values, self._target)
        while self._coming and self._coming[0][0] + arm_ns + self._delays.gripper_ns <= self._now_ns:
            self._coming.popleft()
        self._world.follow(self._target)

    def _remember(self) -> None:
        world = self._world
        self._past.append(_Past(self._now_ns, world.positions(), world.velocities(), world.data.qpos.copy()))
        while self._past[0].stamp_ns < self._now_ns - _LONGEST_DELAY_NS:
            self._past.popleft()

    def _at(self, moment_ns: int) -> _Past:
        """The newest state not after a moment."""
        number = (moment_ns - self._past[0].stamp_ns) // self._step_ns
        return self._past[min(max(number, 0), len(self._past) - 1)]


class _Drawn(Mapping[str, Frame]):
    """Images of one moment, each drawn at first use."""

    def __init__(self, rig: TimedRig, state: NDArray[np.float64], stamp_ns: int) -> None:
        self._rig, self._state, self._stamp_ns = rig, state, stamp_ns
        self._drawn: dict[str, Frame] = {}

    def __getitem__(self, role: str) -> Frame:
        if role not in POLICY_ROLES:
            raise KeyError(role)
        if role not in self._drawn:
            self._drawn[role] = Frame(role, self._rig.draw(role, self._state), self._stamp_ns)
        return self._drawn[role]

    def __iter__(self) -> Iterator[str]:
        return iter(POLICY_ROLES)

    def __len__(self) -> int:
        return len(POLICY_ROLES)
