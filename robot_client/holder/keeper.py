"""What a holder decides: follow, hold, relax, or say that the arm falls. No process, no file, no thread in here."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import ARM_SIZE, JOINTS_PER_ARM
from robot_client.clock import NS_PER_MS, NS_PER_S, Clock
from robot_client.holder.driver import ArmDriver, ArmReading
from robot_client.holder.messages import TORQUE, ArmState, Hold, Order
from robot_client.holder.rules import MOTOR_TIMEOUT_NS, Rules
from robot_client.rigs.base import Stop

_NO_TARGET: Final = np.full(ARM_SIZE, np.nan)
_OWN_STALL_NS: Final = 50 * NS_PER_MS
"""Between two ticks; longer means that this process was not scheduled, and then the driver is asked again first."""
_MOVABLE: Final = frozenset({Hold.HOLDING, Hold.FOLLOWING, Hold.RELAXED})


class Keeper:
    """One open arm. `tick` must be called every few milliseconds; orders come by `take` before it."""

    def __init__(self, clock: Clock, driver: ArmDriver, rules: Rules) -> None:
        self._clock, self._driver, self._rules = clock, driver, rules
        self._order_ns = self._held_since_ns = self._tick_ns = self.feedback_ns = clock.now_ns()
        self._quiet_ns = 0
        self._state = _first(driver.read(), rules.name)

    @property
    def state(self) -> ArmState:
        """As of the newest tick."""
        return self._state

    def take(self, order: Order, sequence: int) -> None:
        """Obey an order that has not been seen before, or refuse it and say why."""
        now_ns = self._clock.now_ns()
        self._order_ns = now_ns
        self._state = replace(self._state, order=sequence, client=order.client)
        if order.stop is None:
            self._follow(order)
        elif order.stop is Stop.HOLD:
            self._hold_on_request(order)
        else:
            self._let_go(order, order.stop)

    def tick(self) -> ArmState:
        """Look at the arm and at the client; the state to publish."""
        now_ns = self._clock.now_ns()
        reading = self._driver.read()
        self._listen(reading.number, now_ns)
        self._state = replace(
            self._state,
            feedback=reading.number,
            positions=reading.positions,
            velocities=reading.velocities,
            efforts_nm=reading.efforts_nm,
            mosfet_c=reading.mosfet_c,
            rotor_c=reading.rotor_c,
        )
        self._watch_motors()
        self._watch_client(now_ns)
        self._state = replace(self._state, alarm=self._alarm(now_ns))
        return self._state

    def interfere(self, reason: str) -> None:
        """Hold against the client's will: its targets count again only once it has seen this.

        An arm that nobody holds (relaxed, fallen) stays what it is: it must never be reported as held.
        """
        hold = Hold.HOLDING if self._state.hold is Hold.FOLLOWING else self._state.hold
        self._go(hold, self._state.reason if hold is Hold.FALLING else reason)
        self._state = replace(self._state, holds=self._state.holds + 1)

    def _listen(self, number: int, now_ns: int) -> None:
        """Counts silence of the motors, but not the time in which this process itself stood still."""
        self._quiet_ns += min(now_ns - self._tick_ns, _OWN_STALL_NS)
        self._tick_ns = now_ns
        if number != self._state.feedback:
            self.feedback_ns, self._quiet_ns = now_ns, 0

    def _watch_motors(self) -> None:
        if self._state.hold in (Hold.FALLING, Hold.OFF):
            return
        death = self._driver.death()
        if not death and self._quiet_ns >= MOTOR_TIMEOUT_NS:
            death = "no feedback for 400 ms: the motors have let go by themselves"
        if death:
            self._go(Hold.FALLING, f"the {self._rules.name} arm is not held: {death}", _NO_TARGET)
        elif self._state.hold in TORQUE - {Hold.DEAF} and (deaf := self._driver.deaf()):
            self._go(Hold.DEAF, f"the {self._rules.name} arm is held but follows no more: {deaf}")

    def _watch_client(self, now_ns: int) -> None:
        late_ns = now_ns - self._order_ns
        if self._state.hold is Hold.FOLLOWING and late_ns > self._rules.heartbeat_ns:
            self.interfere(f"client {self._state.client} is {late_ns / NS_PER_MS:.0f} ms late; held where it was sent")

    def _alarm(self, now_ns: int) -> str:
        hottest = np.maximum(self._state.mosfet_c, self._state.rotor_c)
        if hottest.max() >= self._rules.warm_c:
            return f"{self._rules.name} motor {int(hottest.argmax()) + 1} is at {hottest.max():.0f} C; park the arm"
        held_ns = now_ns - self._held_since_ns
        if self._state.hold in TORQUE - {Hold.FOLLOWING} and held_ns > self._rules.hold_alarm_ns:
            return f"the {self._rules.name} arm has been held for {held_ns // (60 * NS_PER_S)} min; park it"
        return ""

    def _follow(self, order: Order) -> None:
        if self._state.hold not in _MOVABLE or order.seen_holds != self._state.holds:
            self._refuse("")
        elif fault := self._rules.fault(order.target, self._reference()):
            self._refuse(f"client {order.client} was not obeyed: {fault}")
            if self._state.hold is not Hold.RELAXED:
                self.interfere(self._state.reason)
        else:
            self._command(order)

    def _command(self, order: Order) -> None:
        target = np.array(order.target, np.float64)
        share = min(max(float(target[JOINTS_PER_ARM]), 0.0), 1.0)
        clipped = self._state.clipped + int(share != target[JOINTS_PER_ARM])
        target[JOINTS_PER_ARM] = share
        self._driver.command(target.copy())
        self._go(Hold.FOLLOWING, f"client {order.client}", target)
        self._state = replace(self._state, clipped=clipped)

    def _hold_on_request(self, order: Order) -> None:
        if self._state.hold is Hold.RELAXED:
            target = np.array(self._state.positions, np.float64)
            self._driver.command(target.copy())
            self._go(Hold.HOLDING, f"client {order.client} asked for it", target)
        elif self._state.hold is Hold.FOLLOWING:
            self._go(Hold.HOLDING, f"client {order.client} asked for it")

    def _let_go(self, order: Order, how: Stop) -> None:
        unrest = "" if self._state.hold is Hold.FALLING else self._unrest()
        if not order.confirmed:
            self._refuse(f"{how.value} needs a person's word that the {self._rules.name} arm is supported")
        elif unrest:
            self._refuse(f"{how.value} of the {self._rules.name} arm refused: {unrest}")
        elif how is Stop.POWER_OFF:
            self._driver.power_off()
            self._go(Hold.OFF, f"client {order.client} powered it off", _NO_TARGET)
        elif self._state.hold in _MOVABLE:
            self._driver.relax()
            self._go(Hold.RELAXED, f"client {order.client} relaxed it", _NO_TARGET)

    def _unrest(self) -> str:
        return self._rules.unrest(self._state.positions, self._state.velocities)

    def _reference(self) -> NDArray:
        return self._state.positions if self._state.hold is Hold.RELAXED else self._state.held

    def _refuse(self, reason: str) -> None:
        self._state = replace(self._state, refused=self._state.refused + 1, reason=reason or self._state.reason)

    def _go(self, hold: Hold, reason: str, held: NDArray | None = None) -> None:
        if hold is not self._state.hold:
            self._held_since_ns = self._clock.now_ns()
        self._state = replace(self._state, hold=hold, reason=reason, held=self._state.held if held is None else held)


def _first(reading: ArmReading, arm: str) -> ArmState:
    return ArmState(
        hold=Hold.HOLDING,
        holder=os.getpid(),
        client=0,
        holds=0,
        order=0,
        refused=0,
        clipped=0,
        feedback=reading.number,
        positions=reading.positions,
        velocities=reading.velocities,
        efforts_nm=reading.efforts_nm,
        held=np.array(reading.positions, np.float64),
        mosfet_c=reading.mosfet_c,
        rotor_c=reading.rotor_c,
        reason=f"the {arm} arm was just taken",
    )
