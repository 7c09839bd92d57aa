"""What a holder asks of the driver of one arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ArmReading:
    """One feedback of all seven motors: six joints, gripper.

    positions (7,) float64 [rad; gripper 0..1], velocities (7,) [rad/s; 1/s], efforts_nm (7,), mosfet_c and rotor_c (7,)
    [deg C]. `number` rises with every new feedback; the same number means the same feedback, however often it is read.
    """

    positions: NDArray
    velocities: NDArray
    efforts_nm: NDArray
    mosfet_c: NDArray
    rotor_c: NDArray
    number: int


class ArmDriver(Protocol):
    """One arm. No call waits longer than its motors need to be turned on or off."""

    def open(self) -> None:
        """Torque on, holding the measured pose. Raises `RigError`, and then leaves the motors without torque."""

    def read(self) -> ArmReading:
        """The newest feedback."""

    def command(self, target: NDArray) -> None:
        """Go to and stay at (7,) finite values. Keeps no reference to `target`."""

    def relax(self) -> None:
        """Gravity compensated, no position torque."""

    def power_off(self) -> None:
        """No torque. The arm falls unless it lies."""

    def death(self) -> str:
        """Why the motor thread ended, with motor and error in words; empty while it lives."""

    def deaf(self) -> str:
        """Why targets no longer reach the motors although they are held; empty when they do."""
