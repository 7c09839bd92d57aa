"""The control loop: read, ask the source, limit, command, record. It touches no image and waits for nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from contract.errors import ActionError, RigError
from robot_client.clock import Clock
from robot_client.modes import MOVING, TORQUE_ON, Event, Mode
from robot_client.pacer import Beat
from robot_client.pilot import Pilot
from robot_client.rigs.base import ArmFallingError, HeldError, JointReading, Rig, Stop
from robot_client.safety.limiter import at_rest, brake, limit
from robot_client.safety.limits import Clip, Limits, Told, Verdict
from robot_client.safety.veto import checked_target
from robot_client.sources.base import Asked, Moment
from robot_client.taken_up import seed, taken_up
from robot_client.tick_record import record_of
from robot_client.ticks import TickRecord
from robot_client.watchdogs import Watchdogs

_NOTHING = Asked(None)
_LET_GO = {
    Mode.RELAXED: Stop.RELAX,
    Mode.OFF: Stop.POWER_OFF,
    Mode.FAULT: Stop.HOLD,
    Mode.FALLING: Stop.HOLD,  # the other arm
}


class Loop:
    """One tick at a time on the rig's joints. `told` is seeded from measured at torque enable only.

    `inbox(moment)` hands the messages of the tick to the pilot; moment is None while the arms are not commanded.
    """

    def __init__(
        self,
        clock: Clock,
        rig: Rig,
        pilot: Pilot,
        limits: Limits,
        joints_max_age_ns: int,
        inbox: Callable[[Moment | None], None],
        record: Callable[[TickRecord], None],
        watchdogs: Watchdogs,
    ) -> None:
        self._clock, self._rig, self._pilot, self._limits = clock, rig, pilot, limits
        self._joints_max_age_ns = joints_max_age_ns
        self._inbox, self._record, self.watchdogs = inbox, record, watchdogs
        self._mode = pilot.state.mode
        self._told: Told | None = None
        self._read_failed, self._spent_ns = False, (0, 0)
        self._verdict: Verdict | None = None
        self.reading: JointReading | None = None
        self.counts: Counter[str] = Counter()

    @property
    def resting(self) -> bool:
        """Told stands still, or nothing is commanded."""
        return self._told is None or at_rest(self._told)

    @property
    def fresh(self) -> bool:
        """There is a joint reading, it is not too old, and the newest try gave one."""
        old = self.reading is None or self._age_ns(self.reading) > self._joints_max_age_ns
        return not (old or self._read_failed)

    def tick(self, beat: Beat) -> None:
        """One period: everything between two deadlines."""
        self.counts["ticks"] += 1
        self.counts["periods_skipped"] += beat.skipped
        if self._told is not None and beat.skipped:
            self._told = self._told.after_skipping(beat.skipped)
        self._read()
        self._inbox(self._moment(beat))
        self._watch()
        self._follow_mode()
        asked, verdict = self._drive(beat)
        self._follow_mode()
        self._verdict, spent_ns = verdict, (0, 0) if verdict is None else self._spent_ns
        self._record(record_of(beat, self._clock.now_ns(), self._pilot, asked, verdict, self.reading, spent_ns))

    def _read(self) -> None:
        self._read_failed = True
        try:
            reading = self._rig.joints()
            if not np.isfinite(reading.positions).all():
                raise RigError("measured joints", expected="finite values", got=reading.positions)
            self.reading = reading
        except ArmFallingError as error:
            self._pilot.happens(Event.MOTOR_DEAD, str(error))
            return
        except RigError as error:
            if self.reading is not None:
                self._pilot.happens(Event.RIG_FAILED, str(error))
            return
        self._read_failed = False
        self._watch_joints(reading)

    def _watch_joints(self, reading: JointReading) -> None:
        age_ns = self._age_ns(reading)
        if age_ns > self._joints_max_age_ns and self._mode in MOVING | {Mode.IDLE}:
            self.counts["joints_late"] += 1
            self._pilot.happens(Event.WATCHDOG, f"joints are {age_ns / 1e6:.0f} ms old")

    def _watch(self) -> None:
        """Whatever a watchdog has to say is a reason to hold."""
        if self.reading is None:
            return
        planning = self._pilot.planning
        why = self.watchdogs.look(
            self._pilot.state.mode,
            self._clock.now_ns(),
            self.reading.stamp_ns,
            None if self._told is None else self._told.position,
            self.reading.positions,
            None if planning is None else planning.asked_ns,
            self._verdict,
        )
        if why:
            self._pilot.happens(Event.WATCHDOG, why)

    def _age_ns(self, reading: JointReading) -> int:
        return self._clock.now_ns() - reading.stamp_ns

    def _moment(self, beat: Beat) -> Moment | None:
        if self._told is None or self.reading is None:
            return None
        return Moment(beat.deadline_ns, self._told, self.reading, self._pilot.state.epoch)

    def _follow_mode(self) -> None:
        """What a change of mode means for torque and for told."""
        mode = self._pilot.state.mode
        if mode is self._mode:
            return
        self._mode = mode
        if mode not in TORQUE_ON:
            self._told = None
            self._let_go(mode)
        elif self._told is None and self.reading is not None:
            self._told = seed(self.reading)

    def _let_go(self, mode: Mode) -> None:
        how = _LET_GO.get(mode)
        if how is None:
            return
        try:
            self._rig.stop(how)
        except RigError:
            self.counts["rig_errors"] += 1

    def _drive(self, beat: Beat) -> tuple[Asked, Verdict | None]:
        moment = self._moment(beat)
        if moment is None or self._mode not in TORQUE_ON:
            return _NOTHING, None
        asked = self._pilot.ask(moment)
        if asked.event is not None:
            self._pilot.happens(asked.event, asked.reason)
        begun_ns = self._clock.now_ns()
        verdict = self._limited(asked, moment)
        limited_ns = self._clock.now_ns()
        sent = self._command(verdict, moment)
        self._spent_ns = limited_ns - begun_ns, self._clock.now_ns() - limited_ns
        return asked, verdict if sent else None

    def _limited(self, asked: Asked, moment: Moment) -> Verdict:
        if asked.values is None:
            return brake(moment.told, self._limits)
        try:
            target = checked_target(asked.values)
        except ActionError as error:
            self._pilot.happens(Event.VETO, str(error))
            return brake(moment.told, self._limits)
        verdict = limit(moment.told, target, moment.reading.positions, self._limits)
        self._count_clips(verdict)
        return verdict

    def _count_clips(self, verdict: Verdict) -> None:
        bits = int(np.bitwise_or.reduce(verdict.clips))
        for reason in Clip:
            if bits & reason:
                self.counts[f"clip_{str(reason.name).lower()}"] += 1

    def _command(self, verdict: Verdict, moment: Moment) -> bool:
        """Whether the arms were told; only then does told move on (B40)."""
        try:
            self._rig.command(verdict.told.position)
            self._told = verdict.told
            return True
        except HeldError as error:
            self._told = taken_up(moment, error.arms)
            self._pilot.happens(Event.WATCHDOG, str(error))
        except RigError as error:
            self._pilot.happens(Event.RIG_FAILED, str(error))
        return False
