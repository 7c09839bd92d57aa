"""One arm as its client sees it: the state its holder publishes, and the orders it may give."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from numpy.typing import NDArray

from contract.errors import RigError
from robot_client.clock import NS_PER_MS, Clock
from robot_client.holder.claim import Claim, claim, owner
from robot_client.holder.messages import (
    ASKER_BYTES,
    ORDER_BYTES,
    ArmState,
    Hold,
    Order,
    mail,
    pack_asker,
    pack_order,
    unpack_state,
)
from robot_client.holder.places import client_claim
from robot_client.mailbox import MailboxReader, MailboxWriter, open_writer
from robot_client.rigs.base import Stop

_SILENT_NS: Final = 100 * NS_PER_MS
"""A state older than this makes us look whether its holder lives."""


class ArmClient:
    """States may be read by anybody; the first order makes this process the arm's one client."""

    def __init__(self, folder: Path, arm: str, bus_claim: Path, clock: Clock) -> None:
        self.arm = arm
        self._folder, self._bus_claim, self._clock = folder, bus_claim, clock
        self._states = MailboxReader(mail(folder, arm, "state"))
        self._claim: Claim | None = None
        self._orders: MailboxWriter | None = None
        self._seen_holds: int | None = None
        self._first_target = 0
        """Sequence of the first target since the last stop; 0 = none."""
        self.order = 0
        """Sequence of the newest order given."""

    def state(self) -> tuple[ArmState, int]:
        """The newest state and the stamp of its feedback. Raises `RigError` while no holder has written one."""
        letter = self._states.newest()
        if letter is None:
            raise RigError(
                f"{self.arm} arm",
                expected="a holder process",
                got="none",
                remedy="start the holders: yam-robot arms start",
            )
        state = unpack_state(letter)
        if self._seen_holds is None:
            self._seen_holds = state.holds
        return state, letter.stamp_ns

    def abandoned(self, stamp_ns: int) -> bool:
        """The state is old and no holder lives: whatever it says, nobody holds this arm."""
        return self._clock.now_ns() - stamp_ns > _SILENT_NS and not owner(self._bus_claim)

    def held_against_us(self, state: ArmState) -> bool:
        """The holder has held the arm since we looked last; from now on our targets count again."""
        news = self._seen_holds is not None and state.holds != self._seen_holds
        self._seen_holds = state.holds
        return news and state.hold is Hold.HOLDING

    def ignored(self, state: ArmState) -> bool:
        """The holder has read targets of ours and leaves the arm relaxed: it was moved by hand meanwhile, perhaps."""
        read = state.client == os.getpid() and 0 < self._first_target <= state.order
        return read and state.hold is Hold.RELAXED

    def follow(self, target: NDArray) -> None:
        """Send the arm to (7,). Raises `RigError` naming the process when another client has the arm."""
        self._send(Order(None, target, os.getpid(), self._seen_holds or 0))
        self._first_target = self._first_target or self.order

    def stop(self, how: Stop, confirmed: bool) -> None:
        """One of the three stops."""
        state, _ = self.state()
        self._send(Order(how, state.positions, os.getpid(), self._seen_holds or 0, confirmed))
        self._first_target = 0

    def interfere(self) -> None:
        """Ask for a hold against the will of the arm's client, as anybody may. It must see that before it goes on."""
        self.state()
        mailbox = open_writer(mail(self._folder, self.arm, "hold"), ASKER_BYTES)
        mailbox.put(pack_asker(os.getpid()), self._clock.now_ns())
        mailbox.close()

    def close(self) -> None:
        """Give the arm up; its holder keeps it where it is."""
        self._first_target = 0
        self._states.close()
        if self._orders is not None:
            self._orders.close()
            self._orders = None
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    def take(self) -> None:
        """Become the arm's one client. Raises `RigError` naming the process that is."""
        if self._orders is None:
            remedy = "end that process, or let it go on; an arm has one client"
            path, what = client_claim(self._folder, self.arm), f"client of the {self.arm} arm"
            self._claim = self._claim or claim(path, what, remedy)  # kept from a try that found no room
            self._orders = open_writer(mail(self._folder, self.arm, "order"), ORDER_BYTES)

    def _send(self, order: Order) -> None:
        self.take()
        if self._orders is not None:
            self.order = self._orders.put(pack_order(order), self._clock.now_ns())
