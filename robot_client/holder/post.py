"""A holder's files: the claim of its bus, the mailbox of its states, the one of its client's orders.

They lie in shared memory, and the holder outlives whoever started it. Where systemd-logind has RemoveIPC=yes, its
default, a user's last logout deletes that user's files there. Without them nobody could reach the arm any more, and
the next holder would find the bus free and speak on it too. So what is deleted is made anew.
"""

from __future__ import annotations

from pathlib import Path

from robot_client.holder.claim import Claim, claim
from robot_client.holder.messages import STATE_BYTES, mail, unpack_asker
from robot_client.holder.places import bus_folder
from robot_client.mailbox import MailboxReader, MailboxWriter, open_writer
from robot_client.mailbox_file import Letter


class Post:
    """`open` before anything else, then `order`, `put` and now and then `mend`."""

    def __init__(self, folder: Path, bus: Path, arm: str) -> None:
        self._folder, self._bus, self._arm = folder, bus, arm
        self._orders = MailboxReader(mail(folder, arm, "order"))
        self._holds = MailboxReader(mail(folder, arm, "hold"))
        self._claim: Claim
        self._states: MailboxWriter
        self._seen = self._seen_hold = 0

    def open(self) -> None:
        """Raises `RigError` naming the process that holds the bus. What lies in the orders' mailbox is old."""
        self._claim, self._states = self._claimed(), self._state_mail()
        self._seen, self._seen_hold = _number(self._orders), _number(self._holds)

    def order(self) -> Letter | None:
        """The newest order, once."""
        letter = self._orders.newer_than(self._seen)
        if letter is not None:
            self._seen = letter.sequence
        return letter

    def asker(self) -> int:
        """Process that wants the arm held now, whoever its client is; 0 = nobody."""
        letter = self._holds.newer_than(self._seen_hold)
        if letter is None:
            return 0
        self._seen_hold = letter.sequence
        return unpack_asker(letter)

    def put(self, state: bytes, stamp_ns: int) -> None:
        """Publish a state."""
        self._states.put(state, stamp_ns)

    def mend(self) -> str:
        """Make anew what was deleted; which files that were, in words. Raises `RigError` when it cannot be."""
        mended = []
        if self._claim.lost:
            old, self._claim = self._claim, self._claimed()
            old.release()
            mended.append(self._bus.name)
        if self._states.lost:
            before, self._states = self._states, self._state_mail()
            before.close()
            mended.append("states")
        if self._orders.lost:
            self._orders.forget()
            self._seen = 0
            mended.append("orders")
        if self._holds.lost:
            self._holds.forget()
            self._seen_hold = 0
        return f"its files were deleted and made anew: {', '.join(mended)}" if mended else ""

    def _claimed(self) -> Claim:
        bus_folder(self._bus)
        return claim(self._bus, f"CAN bus of the {self._arm} arm", "use that one: yam-robot arms state")

    def _state_mail(self) -> MailboxWriter:
        self._folder.mkdir(parents=True, exist_ok=True)
        return open_writer(mail(self._folder, self._arm, "state"), STATE_BYTES)


def _number(mailbox: MailboxReader) -> int:
    letter = mailbox.newest()
    return 0 if letter is None else letter.sequence
