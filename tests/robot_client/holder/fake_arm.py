"""An arm without a driver: goes where it is told at once, and fails when a test says so."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from contract.layout import ARM_SIZE
from robot_client.holder.driver import ArmReading


class FakeArm:
    """An `ArmDriver`. `feeding` False: no new feedback comes. `calls` has what it was told, in order."""

    def __init__(self, start: NDArray | None = None) -> None:
        self.position = np.zeros(ARM_SIZE) if start is None else np.array(start, float)
        self.velocity = np.zeros(ARM_SIZE)
        self.rotor_c = np.full(ARM_SIZE, 30.0)
        self.calls: list[tuple[str, NDArray | None]] = []
        self.dead = self.mute = ""
        self.feeding = True
        self.number = 1

    def open(self) -> None:
        self.calls.append(("open", None))

    def read(self) -> ArmReading:
        self.number += self.feeding
        zeros = np.zeros(ARM_SIZE)
        return ArmReading(self.position.copy(), self.velocity.copy(), zeros, zeros + 30, self.rotor_c, self.number)

    def command(self, target: NDArray) -> None:
        self.calls.append(("command", target))
        self.position = np.array(target)
        target *= np.nan  # whoever still looks at this array would see it

    def relax(self) -> None:
        self.calls.append(("relax", None))

    def power_off(self) -> None:
        self.calls.append(("power_off", None))

    def death(self) -> str:
        return self.dead

    def deaf(self) -> str:
        return self.mute

    @property
    def told(self) -> list[str]:
        """Names of the calls so far."""
        return [name for name, _ in self.calls]
