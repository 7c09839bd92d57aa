"""One demonstration: the expert does a layout while noise pushes the arms about, and every 0.1 s is recorded."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from contract.architecture import Canvas
from contract.layout import JOINT_MASK, SIZE
from policy_server.canvas import CanvasTiler
from robot_client.twin.tasks import Task
from robot_client.twin.twin import Twin
from training.data.scatter import start_anywhere
from training.data.shard import PHASES, EpisodeEntry, Recording
from training.expert.expert import Expert
from training.expert.path import ROW_S

MOST_ROWS = 260
_HOME = "go home"
_SETTLE_ROWS = 3


class Sway:
    """Noise on executed joint targets: a slow drift and a fast tremor, about equally strong (Ornstein-Uhlenbeck).

    The expert does not know it and keeps giving clean rows, so what is learned from them leads back to the path.
    """

    _MEMORY = 0.85

    def __init__(self, deviation_rad: float, rng: np.random.Generator) -> None:
        self._deviation, self._rng = deviation_rad, rng
        self._drift = np.zeros(SIZE)

    def next(self) -> NDArray[np.float64]:
        """(14,) to add to the next row; grippers are left alone."""
        kick = self._rng.normal(0.0, 1.0, (2, SIZE))
        self._drift = self._MEMORY * self._drift + np.sqrt(1 - self._MEMORY**2) * kick[0]
        return np.where(JOINT_MASK, 0.7 * self._deviation * (self._drift + kick[1]), 0.0)


def record(
    twin: Twin, canvas: Canvas, seed: int, task: Task, noise_rad: float, stride: int = 1, anywhere: bool = False
) -> Recording | None:
    """The demonstration of (seed, task) up to the way home, or None when the expert failed.

    `noise_rad`: deviation of the sway. `stride`: moments between two pictures; the seed says which is first.
    """
    twin.reset(seed, task)
    if anywhere:
        start_anywhere(twin, np.random.default_rng([seed, 8]))
    expert, sway = Expert(twin), Sway(noise_rad, np.random.default_rng([seed, 3]))
    tiler, log = CanvasTiler(canvas), _Log(int(np.random.default_rng([seed, 6]).integers(stride)), stride)
    executed = due = twin.world.target
    while len(log.joints) < MOST_ROWS:
        if log.wants_picture():
            log.frames.append(look(twin, tiler))
        log.moment(twin, due)
        row = expert.next_row()
        if row is None or (expert.purpose == _HOME and twin.verdict.facts.inside):
            break
        goal = row + sway.next()
        twin.glide(executed, goal, ROW_S)
        executed, due = goal, row
    for _ in range(_SETTLE_ROWS):
        twin.glide(executed, due, ROW_S)
        executed = due
    return log.recording(twin, seed, task, expert.tries) if twin.verdict.success else None


def look(twin: Twin, tiler: CanvasTiler) -> NDArray[np.uint8]:
    """The canvas now (Hc, Wc, 3), tiled as the server tiles it."""
    tiler.fill(pictures(twin))
    return tiler.pixels[0].copy()


def pictures(twin: Twin) -> Mapping[str, NDArray[np.uint8]]:
    """Role -> picture of the policy's cameras."""
    return {role: frame.image for role, frame in twin.frames().items()}


class _Log:
    """What has been recorded so far."""

    def __init__(self, offset: int, stride: int) -> None:
        self._offset, self._stride = offset, stride
        self.frames: list[NDArray[np.uint8]] = []
        self.joints: list[NDArray[np.float64]] = []
        self.targets: list[NDArray[np.float64]] = []
        self.phases: list[int] = []

    def wants_picture(self) -> bool:
        return (len(self.joints) - self._offset) % self._stride == 0

    def moment(self, twin: Twin, due: NDArray[np.float64]) -> None:
        self.joints.append(twin.joints().positions)
        self.targets.append(due)
        self.phases.append(PHASES.index(twin.verdict.phase.value))

    def recording(self, twin: Twin, seed: int, task: Task, tries: int) -> Recording:
        length = len(self.joints)
        entry = EpisodeEntry(
            seed, task.object, task.receptacle, 0, length, length, tries, stride=self._stride, offset=self._offset
        )
        return Recording(
            entry,
            np.stack(self.frames),
            np.stack(self.joints).astype(np.float32),
            np.stack(self.targets).astype(np.float32),
            np.array(self.phases, np.uint8),
        )
