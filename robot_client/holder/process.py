"""The holder's process: one claim on the bus, one open arm, orders in and states out, until it is powered off."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

from contract.errors import StackError
from robot_client.clock import NS_PER_MS, NS_PER_S, Clock
from robot_client.holder.claim import claim
from robot_client.holder.driver import ArmDriver
from robot_client.holder.keeper import Keeper
from robot_client.holder.messages import STATE_BYTES, ArmState, Hold, mail, pack_state, unpack_order
from robot_client.holder.rules import Rules
from robot_client.mailbox import MailboxReader, open_writer

PERIOD_NS: Final = 4 * NS_PER_MS
"""The driver's own rate: 250 Hz."""
_REMEMBERED: Final = 16
_SWITCH_S: Final = 0.001
_TROUBLE_PAUSE_NS: Final = 100 * NS_PER_MS


@dataclass(slots=True)
class Saying:
    """Lines for the log: what is new is said at once, the same line again at most once a minute. Remembers few."""

    name: str
    _said: dict[str, int] = field(default_factory=dict)

    def say(self, text: str, now_ns: int) -> None:
        """One line."""
        if text and now_ns - self._said.get(text, -60 * NS_PER_S) >= 60 * NS_PER_S:
            self._said.pop(text, None)
            self._said[text] = now_ns
            while len(self._said) > _REMEMBERED:
                del self._said[next(iter(self._said))]
            print(f"holder {self.name}: {text}", flush=True)


class HolderProcess:
    """`aside(now_ns)` is called once a period; the emulator's port uses it."""

    def __init__(
        self,
        folder: Path,
        bus_claim: Path,
        rules: Rules,
        driver: ArmDriver,
        clock: Clock,
        aside: Callable[[], None] = lambda: None,
    ) -> None:
        self._folder, self._bus_claim, self._rules = folder, bus_claim, rules
        self._driver, self._clock, self._aside = driver, clock, aside
        self._saying = Saying(rules.name)
        self._asked_to_end = False

    def run(self) -> None:
        """Returns when the arm has been powered off, or has fallen and somebody asks the process to end."""
        remedy = "use that one: yam-robot arms state"
        self._bus = claim(self._bus_claim, f"CAN bus of the {self._rules.name} arm", remedy)
        self._states = open_writer(mail(self._folder, self._rules.name, "state"), STATE_BYTES)
        self._orders = MailboxReader(mail(self._folder, self._rules.name, "order"))
        old = self._orders.newest()
        self._seen = old.sequence if old else 0
        self._driver.open()
        self._keeper = Keeper(self._clock, self._driver, self._rules)
        self._ignore_signals()
        self.step()  # nobody who was told of this holder may still read the state of one before it
        print(f"holding {self._rules.name} pid={os.getpid()}", flush=True)
        self._keep()

    def step(self) -> ArmState:
        """One period: newest order, one look at the arm, one state out."""
        self._aside()
        letter = self._orders.newer_than(self._seen)
        if letter is not None:
            self._seen = letter.sequence
            self._keeper.take(unpack_order(letter), letter.sequence)
        state = self._keeper.tick()
        self._states.put(pack_state(state), self._keeper.feedback_ns)
        for text in (state.reason, state.alarm):
            self._saying.say(text, self._clock.now_ns())
        return state

    def _keep(self) -> None:
        next_ns = self._clock.now_ns()
        while not self._over(self._step_or_stay()):
            next_ns = max(next_ns + PERIOD_NS, self._clock.now_ns())
            self._clock.sleep_until_ns(next_ns)
        self._aside()

    def _step_or_stay(self) -> ArmState:
        """An outermost main: no fault of ours may end this process while it holds an arm, or the arm would fall."""
        try:
            return self.step()
        except Exception as error:
            self._saying.say(f"trouble in the holder itself, the arm is held: {error!r}", self._clock.now_ns())
            self._keeper.interfere(f"trouble in the holder: {error!r}"[:200])
            self._clock.sleep_until_ns(self._clock.now_ns() + _TROUBLE_PAUSE_NS)
            return self._keeper.state

    def _over(self, state: ArmState) -> bool:
        return state.hold is Hold.OFF or self._asked_to_end

    def _ignore_signals(self) -> None:
        sys.setswitchinterval(_SWITCH_S)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._signalled)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        """Ends a holder whose arm has fallen already, and no other."""
        if self._keeper.state.hold is Hold.FALLING:
            self._asked_to_end = True
            return
        name = signal.Signals(number).name
        self._saying.say(
            f"{name} does not end a holder: the arm would fall. yam-robot arms power-off does", self._clock.now_ns()
        )


def run_holder(process: HolderProcess) -> int:
    """Exit code: 0 powered off, 2 could not start (the motors are as they were found)."""
    try:
        process.run()
    except StackError as error:
        print(f"holder: {error}", file=sys.stderr, flush=True)
        return 2
    return 0
