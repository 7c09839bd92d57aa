"""A rig whose cameras and joints misbehave as asked; everything else is the rig inside."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from robot_client.clock import Clock
from robot_client.inject.effects import Effects
from robot_client.inject.fault import Fault
from robot_client.inject.once import Occurrence
from robot_client.inject.since import Since
from robot_client.rigs.base import Frame, JointReading, Rig, Stop


class InjectedRig:
    """Wraps a rig of the twin or the ideal one, never real arms."""

    def __init__(self, rig: Rig, faults: Sequence[Fault], since: Since, clock: Clock, effects: Effects) -> None:
        self._rig, self._since, self._clock, self._effects = rig, since, clock, effects
        self._frozen_roles = [fault for fault in faults if fault.kind == "freeze" and fault.role]
        self._frozen_joints = [fault for fault in faults if (fault.kind, fault.target) == ("freeze", "joints")]
        self._nan = [fault for fault in faults if (fault.kind, fault.target) == ("nan", "joints")]
        self._kept: dict[str, Frame] = {}
        self._reading: JointReading | None = None
        self._occurrence = Occurrence()

    def open(self) -> None:
        self._effects.open()
        self._rig.open()

    def joints(self) -> JointReading:
        """The reading, the one from before the fault, or one with a NaN."""
        if not self._frozen_joints and not self._nan:
            return self._rig.joints()
        elapsed_s = self._since.elapsed_s(self._clock.now_ns())
        if self._reading is not None and self._happen(self._lasting(self._frozen_joints, elapsed_s)):
            return self._reading
        self._reading = self._rig.joints()
        now = [each for each in self._nan if self._occurrence.now(each, elapsed_s, self._since.engagement())]
        if self._happen(now):
            return dataclasses.replace(self._reading, positions=np.full_like(self._reading.positions, np.nan))
        return self._reading

    def frames(self) -> Mapping[str, Frame]:
        """Newest frames, a frozen camera's from before the fault."""
        newest = dict(self._rig.frames())
        elapsed_s = self._since.elapsed_s(self._clock.now_ns()) if self._frozen_roles else None
        frozen = {fault.role for fault in self._happen(self._lasting(self._frozen_roles, elapsed_s))}
        shown = {role: self._kept.get(role, frame) if role in frozen else frame for role, frame in newest.items()}
        self._kept = shown
        return shown

    def command(self, target: NDArray[np.float64]) -> None:
        self._rig.command(target)

    def stop(self, how: Stop) -> None:
        self._rig.stop(how)

    def close(self) -> None:
        self._rig.close()
        self._effects.close()
        self._since.close()

    @staticmethod
    def _lasting(faults: Sequence[Fault], elapsed_s: float | None) -> list[Fault]:
        return [fault for fault in faults if fault.lasts(elapsed_s)]

    def _happen(self, faults: list[Fault]) -> list[Fault]:
        for fault in faults:
            self._effects.happens(fault, self._since.engagement(), self._clock.now_ns())
        return faults
