"""A leader as the loop sees it: the newest value and its age, and a place to leave a goal. Nothing here waits."""

from __future__ import annotations

from typing import Final, Literal, Protocol, get_args

from robot_client.teleop.sample import LeaderGoal, LeaderSample

Align = Literal["leader", "follower"]
"""Who moves at a takeover: the leader (it has motors, or no body at all), or the follower, slowly."""

LeaderKind = Literal["keyboard", "scripted", "gello", "yam"]
KINDS: Final[tuple[LeaderKind, ...]] = get_args(LeaderKind)


class Leader(Protocol):
    """`newest` never raises: trouble is in the sample's text, and silence is the age of its stamp."""

    name: str
    align: Align

    def newest(self) -> LeaderSample | None:
        """The newest value; None while there was none."""

    def send(self, goal: LeaderGoal) -> None:
        """Tell the leader where to come, or that it is free. A leader without motors ignores it."""
