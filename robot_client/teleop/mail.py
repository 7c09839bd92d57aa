"""A leader in a process or thread of its own, by two mailboxes in one folder: its samples out, the loop's goals in."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from contract.errors import CodecError, RigError
from robot_client.clock import NS_PER_MS, Clock
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
GOAL_NS: Final = 500 * NS_PER_MS
"""While a leader is to come the loop says so in every tick; when it has said nothing for longer, it is gone or has
given up, and the leader is the person's again."""


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

    def goal(self, now_ns: int) -> LeaderGoal | None:
        """What the loop wants; None while it said nothing. An old wish moves nothing: its leader is free."""
        letter = self._goals.newest()
        if letter is None:
            return None
        goal = unpack_goal(letter.payload)
        return LeaderGoal(goal.pose, goal.free or now_ns - letter.stamp_ns > GOAL_NS)

    def close(self) -> None:
        """The last sample stays readable and grows old."""
        self._goals.close()
        if self._samples is not None:
            self._samples.close()
            self._samples = None


class MailedLeader:
    """The loop's side: a `Leader`. `open` before the first tick, which touches no file."""

    def __init__(self, folder: Path, name: str, align: Align, clock: Clock) -> None:
        self.name, self.align = name, align
        self._samples = MailboxReader(folder / _SAMPLES)
        self._path, self._clock = folder / _GOALS, clock
        self._goals: MailboxWriter | None = None
        self._seen: tuple[int, LeaderSample] | None = None

    def open(self) -> None:
        """Become the one whose goals the leader hears. Raises `RigError` when another loop is."""
        self._path.parent.mkdir(parents=True, exist_ok=True)  # either side may be there first
        self._goals = open_writer(self._path, GOAL_BYTES)

    def newest(self) -> LeaderSample | None:
        try:
            letter = self._samples.newest()
            if letter is not None and (self._seen is None or self._seen[0] != letter.sequence):
                self._seen = letter.sequence, unpack_sample(letter.payload, letter.stamp_ns)
        except (CodecError, RigError):  # another program's file: no news, and the last sample grows old
            pass
        return None if self._seen is None else self._seen[1]

    def send(self, goal: LeaderGoal) -> None:
        if self._goals is not None:
            self._goals.put(pack_goal(goal), self._clock.now_ns())

    def close(self) -> None:
        """Let go of both mailboxes."""
        self._samples.close()
        if self._goals is not None:
            self._goals.close()
            self._goals = None
