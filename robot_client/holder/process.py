"""The holder's process: one claim on the bus, one open arm, orders in and states out, until it is powered off."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Final

from contract.errors import StackError
from robot_client.clock import NS_PER_MS, Clock
from robot_client.holder.driver import ArmDriver
from robot_client.holder.keeper import Keeper
from robot_client.holder.messages import ArmState, Hold, pack_state, unpack_order
from robot_client.holder.post import Post
from robot_client.holder.rules import Rules
from robot_client.holder.saying import Saying, say_line

PERIOD_NS: Final = 4 * NS_PER_MS
"""The driver's own rate: 250 Hz."""
_MEND_NS: Final = 100 * NS_PER_MS
"""Between two looks at the own files; a new holder needs longer than that to claim the bus."""
_SWITCH_S: Final = 0.001
_TROUBLE_PAUSE_NS: Final = 100 * NS_PER_MS


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
        self._rules, self._driver, self._clock, self._aside = rules, driver, clock, aside
        self._post = Post(folder, bus_claim, rules.name)
        self._saying = Saying(rules.name)
        self._asked_to_end = False
        self._mend_ns = 0

    def run(self) -> None:
        """Returns when the arm has been powered off, or has fallen and somebody asks the process to end."""
        self._post.open()
        self._driver.open()
        with ExitStack() as undo:
            undo.callback(self._driver.power_off)  # until somebody is told, a failure leaves the arm as it was found
            self._keeper = Keeper(self._clock, self._driver, self._rules)
            self._ignore_signals()
            self.step()  # nobody who was told of this holder may still read the state of one before it
            undo.pop_all()
        say_line(f"holding {self._rules.name} pid={os.getpid()}")
        self._keep()

    def step(self) -> ArmState:
        """One period: newest order, one look at the arm, one state out."""
        self._aside()
        self._mend(self._clock.now_ns())
        if asker := self._post.asker():
            self._keeper.interfere(f"process {asker} asked for a hold")
        letter = self._post.order()
        if letter is not None:
            self._keeper.take(unpack_order(letter), letter.sequence)
        state = self._keeper.tick()
        self._post.put(pack_state(state), self._keeper.feedback_ns)
        for text in (state.reason, state.alarm):
            self._saying.say(text, self._clock.now_ns())
        return state

    def _mend(self, now_ns: int) -> None:
        if now_ns >= self._mend_ns:
            self._mend_ns = now_ns + _MEND_NS
            self._saying.say(self._post.mend(), now_ns)

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
        except Exception as error:  # an outermost main: while it holds an arm it must not end
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
        say_line(f"holder: {error}", sys.stderr)
        return 2
    return 0
