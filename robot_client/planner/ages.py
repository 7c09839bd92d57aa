"""How old every camera's newest image is, ten times a second, for the loop, which sees no image."""

from __future__ import annotations

from collections.abc import Mapping

from contract.station import Camera
from robot_client.clock import NS_PER_MS
from robot_client.local_messages import CameraAges
from robot_client.rigs.base import Rig

_AGES_NS = 100 * NS_PER_MS
"""Between two reports."""


class Ages:
    """Of the cameras that the policy looks at."""

    def __init__(self, rig: Rig) -> None:
        self._rig, self._due_ns = rig, 0

    def report(self, cameras: Mapping[str, Camera], now_ns: int) -> CameraAges | None:
        """What to tell the loop; None while nothing is due or no camera has delivered. Raises `RigError`."""
        if now_ns < self._due_ns:
            return None
        self._due_ns = now_ns + _AGES_NS
        frames = self._rig.frames()
        looked_at = [camera.role for camera in cameras.values() if camera.role in frames]
        ages = {role: now_ns - frames[role].stamp_ns for role in looked_at}
        return CameraAges(now_ns, ages) if ages else None
