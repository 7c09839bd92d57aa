"""A leader and the loop by mailbox: what is old moves nothing, and nothing of it can end the loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contract.errors import RigError
from robot_client.clock import FakeClock
from robot_client.teleop.mail import GOAL_NS, LeaderMail, MailedLeader
from robot_client.teleop.sample import LeaderGoal, LeaderSample

POSE = np.arange(14.0) / 10.0


def _loop(folder: Path, clock: FakeClock) -> MailedLeader:
    loop = MailedLeader(folder, "yam", "leader", clock)
    loop.open()
    return loop


def test_a_leader_with_motors_does_not_come_to_a_goal_that_nobody_repeats(tmp_path: Path) -> None:
    """A goal stayed in the mailbox: a leader started anew, or left by a loop that had died, drove to it by itself."""
    clock, leader = FakeClock(10**9), LeaderMail(tmp_path)
    assert leader.goal(clock.now_ns()) is None
    loop = _loop(tmp_path, clock)
    loop.send(LeaderGoal(POSE, free=False))
    wanted = leader.goal(clock.now_ns() + GOAL_NS)
    assert wanted is not None and not wanted.free
    np.testing.assert_array_equal(wanted.pose, POSE)
    loop.close()
    for left in (leader, LeaderMail(tmp_path)):
        old = left.goal(clock.now_ns() + GOAL_NS + 1)
        assert old is not None and old.free


def test_a_second_loop_for_one_leader_is_refused_before_its_first_tick(tmp_path: Path) -> None:
    """The mailbox was opened at the first handoff, by a control step, which ended with the loop's process."""
    clock = FakeClock(10**9)
    first = _loop(tmp_path / "not there yet", clock)
    with pytest.raises(RigError, match="one writer"):
        _loop(tmp_path / "not there yet", clock)
    first.close()


def test_a_file_that_is_no_mailbox_is_a_leader_that_says_nothing(tmp_path: Path) -> None:
    """`newest` raised, out of the control step."""
    (tmp_path / "leader.mail").write_bytes(b"something else")
    assert MailedLeader(tmp_path, "yam", "leader", FakeClock(10**9)).newest() is None


def test_samples_come_through_with_their_age(tmp_path: Path) -> None:
    clock, leader = FakeClock(10**9), LeaderMail(tmp_path)
    leader.open()
    leader.put(LeaderSample(POSE, 123, dead_man=True, clutch=False, trouble="none"))
    seen = MailedLeader(tmp_path, "yam", "leader", clock).newest()
    assert seen is not None
    np.testing.assert_array_equal(seen.values, POSE)
    assert (seen.stamp_ns, seen.dead_man, seen.clutch, seen.trouble) == (123, True, False, "none")
    leader.close()
