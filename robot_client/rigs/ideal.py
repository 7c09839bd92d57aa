"""A rig that does exactly what it is told, some time later. For tests, benches and dry runs; it ships.

Its cameras see one grey wall: a policy that runs on it shows that everything works, not that the policy does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from contract.errors import RigError
from contract.station import Camera
from robot_client.clock import NS_PER_S, Clock
from robot_client.rigs.base import Frame, JointReading, Stop

_GREY = 127


class IdealRig:
    """Measured equals what was commanded `delay_ns` ago; starts at `start` (14,)."""

    def __init__(
        self, clock: Clock, start: NDArray[np.float64], cameras: Sequence[Camera] = (), delay_ns: int = 0
    ) -> None:
        self._clock, self._delay_ns = clock, delay_ns
        self._shown = JointReading(np.array(start, np.float64), np.zeros(len(start)), 0)
        self._coming: deque[tuple[int, NDArray[np.float64]]] = deque()
        self._images = {camera.role: _wall(camera.height, camera.width) for camera in cameras}
        self.stops: list[Stop] = []

    def open(self) -> None:
        """Nothing to get ready."""

    def joints(self) -> JointReading:
        """The command of `delay_ns` ago, stamped now."""
        now_ns = self._clock.now_ns()
        while self._coming and self._coming[0][0] + self._delay_ns <= now_ns:
            given_ns, target = self._coming.popleft()
            self._show(target, given_ns)
        return JointReading(self._shown.positions, self._shown.velocities, now_ns)

    def frames(self) -> Mapping[str, Frame]:
        """A grey image of each camera, stamped now."""
        now_ns = self._clock.now_ns()
        return {role: Frame(role, image, now_ns) for role, image in self._images.items()}

    def command(self, target: NDArray[np.float64]) -> None:
        if target.shape != self._shown.positions.shape or not np.isfinite(target).all():
            raise RigError("command", expected=f"{self._shown.positions.shape} finite values", got=target)
        self._coming.append((self._clock.now_ns(), np.array(target)))

    def stop(self, how: Stop) -> None:
        """The target stays as it is; what was asked is remembered in `stops`."""
        self.stops.append(how)

    def close(self) -> None:
        """Nothing to let go."""

    def _show(self, target: NDArray[np.float64], given_ns: int) -> None:
        elapsed_ns = given_ns - self._shown.stamp_ns
        way = target - self._shown.positions
        speed = way * (NS_PER_S / elapsed_ns) if self._shown.stamp_ns and elapsed_ns > 0 else np.zeros(len(way))
        self._shown = JointReading(target, speed, given_ns)


def _wall(height: int, width: int) -> NDArray[np.uint8]:
    image = np.full((height, width, 3), _GREY, np.uint8)
    image.flags.writeable = False
    return image
