"""The rig of two real arms: two holder processes as one. Imports no driver and opens no bus.

The arms' holders live longer than this rig. When one arm falls the other is held, by its own holder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contract.errors import RigError
from contract.layout import ARMS, SIZE, arm_of
from contract.station import Station
from robot_client.clock import Clock
from robot_client.holder.client import ArmClient
from robot_client.holder.messages import ArmState, Hold
from robot_client.holder.places import bus_claim
from robot_client.holder.rules import arms_of, rules_of
from robot_client.rigs.base import ArmFallingError, Frame, HeldError, JointReading, Stop


def no_frames() -> Mapping[str, Frame]:
    """For a process that uses only the arms."""
    return {}


class YamRig:
    """Both arms behind `folder`. `frames` gives the newest camera frames; the arms know nothing of cameras."""

    def __init__(
        self,
        station: Station,
        folder: Path,
        clock: Clock,
        frames: Callable[[], Mapping[str, Frame]] = no_frames,
    ) -> None:
        arms = arms_of(station)
        self._frames = frames
        self._rules = {arm: rules_of(station, arm) for arm in ARMS}
        emulated = arms.bus == "emulated"
        self._clients = {
            arm: ArmClient(folder, arm, bus_claim(getattr(arms, arm).channel, emulated, folder), clock) for arm in ARMS
        }
        self._confirmed = False

    def open(self) -> None:
        """Nothing to get ready: holders may start later, and half a rig needs none."""

    def joints(self) -> JointReading:
        """Both arms, stamped with the older measurement.

        Raises `ArmFallingError` naming an arm that nothing holds, `RigError` naming one that does not follow.
        """
        states = {arm: self._checked(client) for arm, client in self._clients.items()}
        positions, velocities, held = np.empty(SIZE), np.empty(SIZE), np.empty(SIZE)
        for arm in ARMS:
            state, _ = states[arm]
            arm_of(positions, arm)[:] = state.positions
            arm_of(velocities, arm)[:] = state.velocities
            arm_of(held, arm)[:] = state.held
        torque = np.isfinite(held)
        return JointReading(
            positions,
            velocities,
            min(stamp for _, stamp in states.values()),
            np.where(torque, held, positions) if torque.any() else None,
        )

    def frames(self) -> Mapping[str, Frame]:
        """The newest frame of each camera."""
        return self._frames()

    def command(self, target: NDArray[np.float64]) -> None:
        """Send both arms, or neither.

        Raises `HeldError` once when a holder has held its arm since the last call: then the targets start anew from
        where the arms are held. `RigError` on what is not finite.
        """
        values = np.array(target, np.float64)
        if values.shape != (SIZE,) or not np.isfinite(values).all():
            raise RigError("command to the arms", expected=f"{SIZE} finite values", got=f"{values.shape} {values}")
        held = {arm: state.reason for arm, one in self._clients.items() if (state := self._held_against_us(one))}
        if held:
            raise HeldError.of("; ".join(held.values()), tuple(held))
        for client in self._clients.values():
            client.take()
        for arm, client in self._clients.items():
            client.follow(arm_of(values, arm))

    def refusal(self, how: Stop, confirmed: bool) -> str:
        """Why the arms may not be let go in this way now; empty = they may, and the next `stop` is taken at its word.

        RELAX and POWER_OFF need a person's confirmation that the arms are supported, and both arms at rest.
        """
        if how is Stop.HOLD:
            return ""
        if not confirmed:
            return f"{how.value} refused: say that the arms are supported"
        for arm, client in self._clients.items():
            state, _ = client.state()
            unrest = self._rules[arm].unrest(state.positions, state.velocities)
            if unrest and state.hold is not Hold.FALLING:
                return f"{how.value} refused, {arm} arm: {unrest}"
        self._confirmed = True
        return ""

    def stop(self, how: Stop) -> None:
        """Both arms, in one of the three ways. A holder obeys RELAX and POWER_OFF only at rest."""
        confirmed, self._confirmed = self._confirmed, False
        if how is not Stop.HOLD and not confirmed:
            raise RigError(f"{how.value} of the arms", expected="a person's confirmation", got="none")
        failures = []
        for client in self._clients.values():
            try:
                client.stop(how, confirmed)
            except RigError as error:
                if how is not Stop.HOLD:
                    raise
                failures.append(error)  # the other arm is told to hold all the same
        if failures:
            raise failures[0]

    def alarm(self) -> str:
        """Warm motors and long holds, as the holders see them."""
        try:
            return "; ".join(alarm for client in self._clients.values() if (alarm := client.state()[0].alarm))
        except RigError:
            return ""

    def close(self) -> None:
        """Let go of the holders; they hold."""
        for client in self._clients.values():
            client.close()

    def _checked(self, client: ArmClient) -> tuple[ArmState, int]:
        state, stamp_ns = client.state()
        if state.hold is Hold.FALLING:
            raise ArmFallingError(state.reason)
        if state.hold is Hold.DEAF:
            raise RigError(state.reason)
        if client.ignored(state):
            raise RigError(f"the {client.arm} arm is relaxed, and not held: {state.reason}")
        if state.hold is not Hold.OFF and client.abandoned(stamp_ns):
            raise ArmFallingError(
                f"the {client.arm} arm is not held: its holder (process {state.holder}) is gone, and without it "
                "the motors let go"
            )
        return state, stamp_ns

    def _held_against_us(self, client: ArmClient) -> ArmState | None:
        state, _ = client.state()
        return state if client.held_against_us(state) else None
