"""The arms and cameras as a calibration routine has them: it sees joints and images, and moves only through the loop.

Every motion is a `TargetSource` in the control loop, behind the station's limits and watchdogs, as any other motion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.rigid import Matrix, matrix
from contract.errors import RigError
from contract.layout import Arm, joints_of
from contract.station import Station
from robot_client.clock import NS_PER_S, Clock
from robot_client.local_messages import PersonEvent
from robot_client.loop import Loop
from robot_client.modes import Mode
from robot_client.pacer import Pacer
from robot_client.pilot import Pilot
from robot_client.rigs.base import Frame, JointReading, Rig
from robot_client.safety.kinematics import link_frames
from robot_client.safety.limits import limits_of
from robot_client.sources.base import Asked, Moment, TargetSource
from robot_client.sources.pose import PoseSource
from robot_client.taken_up import seed
from robot_client.ticks import TickRecord
from robot_client.watchdogs import Watchdogs

SHARE: Final = 0.3
"""Of the station's speed and acceleration limits."""
LONGEST_S: Final = 30.0
"""Of one motion; one that safety does not let arrive is given up then."""
SETTLE_S: Final = 0.4
_FRAME_S: Final = 2.0
_TAKE_UP_S: Final = 0.2
_BLOCKED: Final = "watchdog_blocked"
_BLOCKED_MS: Final = 1000.0


class _Chosen:
    """The source of the moment, in the one place that the pilot has for it."""

    name = "calibration"
    source: TargetSource

    def begin(self, moment: Moment) -> None:
        self.source.begin(moment)

    def ask(self, moment: Moment) -> Asked:
        return self.source.ask(moment)


class Cell:
    """A station under calibration. Torque comes on at the first motion, with told seeded from measured."""

    def __init__(self, rig: Rig, clock: Clock, station: Station, loop_hz: float | None = None) -> None:
        self.rig, self.station, self._clock = rig, station, clock
        self.hz = loop_hz or station.timing.loop_hz
        self._limits = limits_of(station.safety, 1.0 / self.hz)
        self._chosen = _Chosen()
        self._ticks: list[TickRecord] = []
        # A person sits at this terminal, but answers prompts rather than sending signs of life. A pose that safety does
        # not let the arms into is nothing but the next pose's turn, so it is given up soon.
        patience = {"operator_ms": None, "blocked_ms": min(station.watchdogs.blocked_ms, _BLOCKED_MS)}
        self._watchdogs = Watchdogs(station.watchdogs.model_copy(update=patience))
        self._pacer = Pacer(clock, int(NS_PER_S / self.hz))
        self._begin()

    def _begin(self) -> None:
        """A loop that has commanded nothing yet."""
        self._pilot = Pilot({"home": self._chosen, "park": self._chosen}, parks_itself=False, limits=self._limits)
        age_ns = int(self.station.timing.joints_max_age_ms * 1e6)
        self._loop = Loop(
            self._clock, self.rig, self._pilot, self._limits, age_ns, lambda moment: None, self._ticks.append,
            self._watchdogs,
        )  # fmt: skip

    def let_be(self) -> None:
        """Give the arms up; who holds them goes on. Another command may bring them elsewhere meanwhile, and the next
        motion begins where they are then."""
        self.rig.close()
        self._begin()

    def joints(self) -> JointReading:
        """Both arms, as measured."""
        return self.rig.joints()

    def stands(self) -> NDArray[np.float64]:
        """(14,) where the arms are held, or are when nobody holds them. A pose to go to is made of this: measured arms
        sag, and jaws that press on a thing are wider than they were told to be."""
        return seed(self.joints()).position

    def hand(self, arm: Arm) -> Matrix:
        """base_from_hand now: the gripper's frame of the arm's model at the measured joints."""
        return hand_pose(joints_of(self.joints().positions, arm))

    def frame(self, role: str) -> Frame:
        """An image captured from now on. Raises `RigError` when none comes within two seconds."""
        begun_ns = self._clock.now_ns()
        for _ in range(round(_FRAME_S * self.hz)):
            self._tick()
            frames = self.rig.frames()
            # Twice a frame's time and any latency below it; the arms stand still, so later is no worse.
            if role in frames and frames[role].stamp_ns > begun_ns:
                return frames[role]
        raise RigError(f"camera {role}", expected="an image", got=f"none within {_FRAME_S:g} s", remedy="check it")

    def go(self, pose: NDArray[np.float64]) -> bool:
        """Both arms to targets (14,), and stand; False when safety does not let them there."""
        self._drive(PoseSource("calibration", pose, self._limits, SHARE), LONGEST_S, None, may_be_blocked=True)
        self.stand(SETTLE_S)
        return bool(self._ticks and np.abs(self._last_told() - pose).max() < 1e-3)

    def follow(
        self, source: TargetSource, seconds: float, watch: Callable[[TickRecord], None] | None = None
    ) -> list[TickRecord]:
        """The ticks of a motion of about that time, with `watch` called after each."""
        return self._drive(source, seconds + 2.0, watch)

    def stand(self, seconds: float) -> None:
        """Keep the arms where they are."""
        for _ in range(round(seconds * self.hz)):
            self._tick()

    def _drive(
        self,
        source: TargetSource,
        longest_s: float,
        watch: Callable[[TickRecord], None] | None,
        may_be_blocked: bool = False,
    ) -> list[TickRecord]:
        self._take_up()
        blocked = self._watchdogs.counts[_BLOCKED]
        self._ticks.clear()
        self._chosen.source = source
        self._pilot.person(PersonEvent("home"))
        for _ in range(round(longest_s * self.hz)):
            self._tick()
            if watch is not None:
                watch(self._ticks[-1])
            if self._pilot.state.mode is not Mode.PARK:
                break
        else:
            self._pilot.person(PersonEvent("hold"))
        if not may_be_blocked or self._watchdogs.counts[_BLOCKED] == blocked:
            self._require_no_trouble(source.name)
        return list(self._ticks)

    def _take_up(self) -> None:
        """Torque on. Between two motions nothing is told, while a picture is searched or a person answers, and the
        holders of real arms hold them on their own: told is taken up from there before a motion begins."""
        if self._pilot.state.mode is Mode.OFF:
            self._enable()
        for _ in range(round(_TAKE_UP_S * self.hz)):
            self._tick()
            if self._ticks[-1].told is not None:
                break

    def _enable(self) -> None:
        self._pacer.start()
        for _ in range(round(self.hz)):
            self._tick()
            if self._loop.fresh:
                break
        self._pilot.person(PersonEvent("enable"))

    def _require_no_trouble(self, name: str) -> None:
        state = self._pilot.state
        ended_well = "reached" in state.reason or "done" in state.reason or state.reason == "hold by a person"
        if state.mode is not Mode.HOLD or not ended_well:
            raise RigError(f"motion {name}", expected="to end by itself", got=f"{state.mode.value}: {state.reason}")

    def _tick(self) -> None:
        self._loop.tick(self._pacer.wait())

    def _last_told(self) -> NDArray[np.float64]:
        told = self._ticks[-1].told
        return np.full(14, np.nan) if told is None else told


def hand_pose(joints: NDArray[np.float64]) -> Matrix:
    """base_from_hand of joints (6,) [rad]. Hand: the gripper's body frame of i2rt's model, where link 6 ends."""
    frames, origins = link_frames(np.asarray(joints, np.float64))
    return matrix(frames[6], origins[6])
