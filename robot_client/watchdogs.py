"""Watchdogs of the loop: each has a clock and a limit of its own, and says in words why the arms must hold.

The loop process touches no image: how old the cameras' images are comes as numbers from whoever looks at them, and
goes on growing here when the numbers stop coming.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from contract.layout import ARMS, CHANNELS, JOINT_MASK, Arm, arm_of
from contract.watchdogs import Watchdogs as Limits
from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.modes import MOVING, Mode
from robot_client.safety.limits import SPACE_CLIPS, Clip, Verdict


class DriverWatch:
    """Feedback must advance. Counted by our clock: a stamp that runs ahead or stands still deceives nobody."""

    def __init__(self, limit_ms: float) -> None:
        self._limit_ns = int(limit_ms * NS_PER_MS)
        self._stamp_ns: int | None = None
        self._since_ns = 0

    def look(self, stamp_ns: int, now_ns: int) -> str:
        """Why to hold; empty = nothing."""
        if stamp_ns != self._stamp_ns:
            self._stamp_ns, self._since_ns = stamp_ns, now_ns
        late_ns = now_ns - self._since_ns
        return f"the driver gave nothing new for {late_ns / NS_PER_MS:.0f} ms" if late_ns > self._limit_ns else ""


class TrackingWatch:
    """Joints must come along. Grippers need not: they close on things."""

    def __init__(self, limit_rad: float, limit_ms: float) -> None:
        self._limit_rad, self._limit_ns = limit_rad, int(limit_ms * NS_PER_MS)
        self._since_ns: int | None = None

    def look(self, told: NDArray, measured: NDArray, now_ns: int) -> str:
        """Why to hold; empty = nothing."""
        behind = np.where(JOINT_MASK, np.abs(told - measured), 0.0)
        worst = int(behind.argmax())
        if not behind[worst] > self._limit_rad:
            self._since_ns = None
            return ""
        if self._since_ns is None:
            self._since_ns = now_ns
        if now_ns - self._since_ns < self._limit_ns:
            return ""
        return f"{CHANNELS[worst]} is {behind[worst]:.2f} rad behind what it was told: something is in its way"


class CameraWatch:
    """The newest image of every camera the policy looks at. Quiet until somebody has reported ages."""

    def __init__(self, limit_ms: float, limits_ms: Mapping[str, float]) -> None:
        self._limit_ms, self._limits_ms = limit_ms, limits_ms
        self._captured_ns: dict[str, int] = {}

    def heard(self, ages_ns: Mapping[str, int], stamp_ns: int) -> None:
        """Role -> age at `stamp_ns`. A role that is not among them any more goes on growing old."""
        for role, age_ns in ages_ns.items():
            self._captured_ns[role] = stamp_ns - age_ns

    def forget(self) -> None:
        """The policy changed, and with it perhaps the cameras it looks at."""
        self._captured_ns = {}

    def look(self, now_ns: int) -> str:
        """Why to hold; empty = nothing."""
        for role, captured_ns in self._captured_ns.items():
            age_ms = (now_ns - captured_ns) / NS_PER_MS
            if age_ms > self._limits_ms.get(role, self._limit_ms):
                return f"the newest image of camera {role} is {age_ms:.0f} ms old"
        return ""


class OperatorWatch:
    """The operator's terminal must be heard of, if the station asks for it."""

    def __init__(self, limit_ms: float | None) -> None:
        self._limit_ns = None if limit_ms is None else int(limit_ms * NS_PER_MS)
        self._heard_ns: int | None = None

    def heard(self, now_ns: int) -> None:
        """A sign of life, or something a person did."""
        self._heard_ns = now_ns

    def look(self, now_ns: int) -> str:
        """Why to hold; empty = nothing."""
        if self._limit_ns is None:
            return ""
        late_ns = None if self._heard_ns is None else now_ns - self._heard_ns
        if late_ns is not None and late_ns <= self._limit_ns:
            return ""
        return f"nothing heard of the operator for {'ever' if late_ns is None else f'{late_ns / NS_PER_MS:.0f} ms'}"


class ChunkWatch:
    """The observation that the running rows answer."""

    def __init__(self, limit_ms: float) -> None:
        self._limit_ns = int(limit_ms * NS_PER_MS)

    def look(self, asked_ns: int, now_ns: int) -> str:
        """Why to hold; empty = nothing, also while no row runs (`asked_ns` 0)."""
        age_ns = now_ns - asked_ns
        if not asked_ns or age_ns <= self._limit_ns:
            return ""
        return f"the plan answers an observation that is {age_ns / NS_PER_MS:.0f} ms old"


class BlockedWatch:
    """An arm that stands because what is asked of it is too near to something. Without this it would stand for ever."""

    def __init__(self, limit_ms: float) -> None:
        self._limit_ns = int(limit_ms * NS_PER_MS)
        self._since_ns: dict[Arm, int] = {}

    def look(self, clips: NDArray[np.uint16], velocity: NDArray, now_ns: int) -> str:
        """Why to hold, from `Clip` bits and told speed (14,) of the last tick; empty = nothing."""
        for arm in ARMS:
            bits = Clip(int(np.bitwise_or.reduce(arm_of(clips, arm)))) & SPACE_CLIPS
            if not bits or arm_of(velocity, arm).any():
                self._since_ns.pop(arm, None)
            elif now_ns - self._since_ns.setdefault(arm, now_ns) >= self._limit_ns:
                names = ", ".join(str(bit.name) for bit in Clip if bits & bit)
                return f"safety has let the {arm} arm go nowhere for {self._limit_ns / NS_PER_S:g} s: {names}"
        return ""

    def forget(self) -> None:
        """The arms are not asked for anything now."""
        self._since_ns = {}


class Watchdogs:
    """All of them. `look` gives the first reason to hold; `counts` how often each one barked."""

    def __init__(self, limits: Limits) -> None:
        self.driver = DriverWatch(limits.driver_ms)
        self.tracking = TrackingWatch(limits.tracking_rad, limits.tracking_ms)
        self.cameras = CameraWatch(limits.camera_ms, limits.cameras_ms)
        self.operator = OperatorWatch(limits.operator_ms)
        self.chunk = ChunkWatch(limits.chunk_ms)
        self.blocked = BlockedWatch(limits.blocked_ms)
        self.counts: Counter[str] = Counter()

    def look(
        self,
        mode: Mode,
        now_ns: int,
        stamp_ns: int,
        told: NDArray | None,
        measured: NDArray,
        asked_ns: int | None,
        last: Verdict | None = None,
    ) -> str:
        """`asked_ns` of the running plan, None while the policy drives no arm; `last` is what the last tick told.

        Empty = nothing to hold for.
        """
        barks = {
            "driver": self.driver.look(stamp_ns, now_ns),
            "tracking": "" if told is None else self.tracking.look(told, measured, now_ns),
        }
        if last is not None and mode in MOVING - {Mode.TELEOP}:
            barks["blocked"] = self.blocked.look(last.clips, last.told.velocity, now_ns)
        else:
            self.blocked.forget()
        if mode in MOVING:
            barks["operator"] = self.operator.look(now_ns)
        if asked_ns is not None:
            barks["chunk"] = self.chunk.look(asked_ns, now_ns)
            barks["camera"] = self.cameras.look(now_ns)
        for name, why in barks.items():
            if why and mode in MOVING | {Mode.IDLE}:
                self.counts[f"watchdog_{name}"] += 1
                return why
        return ""
