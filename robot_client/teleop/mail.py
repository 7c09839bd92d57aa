"""A leader in a process or thread of its own, by two mailboxes in one folder: its samples out, the loop's goals in."""

from __future__ import annotations

from pathlib import Path

from contract.errors import CodecError
from robot_client.clock import Clock
from robot_client.mailbox import MailboxReader, MailboxWriter, open_writer
from robot_client.teleop.leader import Align
from robot_client.teleop.sample import (
    GOAL_BYTES,
    SAMPLE_BYTES,
    LeaderGoal,
    LeaderSample,
    pack_goal,
    pack_sample,
    unpack_goal,
    unpack_sample,
)

_SAMPLES, _GOALS = "leader.mail", "leader_goal.mail"


class LeaderMail:
    """The leader's side. `open` before the first `put`; raises `RigError` when another leader writes there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._samples: MailboxWriter | None = None
        self._goals = MailboxReader(folder / _GOALS)

    def open(self) -> None:
        """Become the folder's one leader."""
        self._samples = open_writer(self._folder / _SAMPLES, SAMPLE_BYTES)

    def put(self, sample: LeaderSample) -> None:
        """Make it the newest; never waits."""
        if self._samples is not None:
            self._samples.put(pack_sample(sample), sample.stamp_ns)

    def goal(self) -> LeaderGoal | None:
        """What the loop wants; None while it said nothing."""
        letter = self._goals.newest()
        return None if letter is None else unpack_goal(letter.payload)

    def close(self) -> None:
        """The last sample stays readable and grows old."""
        self._goals.close()
        if self._samples is not None:
            self._samples.close()
            self._samples = None


class MailedLeader:
    """The loop's side: a `Leader`."""

    def __init__(self, folder: Path, name: str, align: Align, clock: Clock) -> None:
        self.name, self.align = name, align
        self._samples = MailboxReader(folder / _SAMPLES)
        self._path, self._clock = folder / _GOALS, clock
        self._goals: MailboxWriter | None = None
        self._seen: tuple[int, LeaderSample] | None = None

    def newest(self) -> LeaderSample | None:
        letter = self._samples.newest()
        if letter is None:
            return None
        if self._seen is None or self._seen[0] != letter.sequence:
            try:
                self._seen = letter.sequence, unpack_sample(letter.payload, letter.stamp_ns)
            except CodecError:  # another program's file: no news, and the last sample grows old
                return None if self._seen is None else self._seen[1]
        return self._seen[1]

    def send(self, goal: LeaderGoal) -> None:
        if self._goals is None:
            self._goals = open_writer(self._path, GOAL_BYTES)
        self._goals.put(pack_goal(goal), self._clock.now_ns())

    def close(self) -> None:
        """Let go of both mailboxes."""
        self._samples.close()
        if self._goals is not None:
            self._goals.close()
            self._goals = None
