"""A keyboard as a leader: it has no body, so at a takeover it is where the follower is."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

from robot_client.clock import NS_PER_S, Clock
from robot_client.teleop.jog import Jog
from robot_client.teleop.sample import LeaderGoal, LeaderSample

JOG_KEYS: Final[Mapping[str, str]] = {
    "tab": "other arm",
    "1..6": "choose a joint",
    "+ -": "turn it",
    "w s": "tool forward, back",
    "a d": "tool left, right",
    "r f": "tool up, down",
    "o c": "gripper open, close",
}
"""For people."""
_TOOL: Final = {"w": (1, 0, 0), "s": (-1, 0, 0), "a": (0, 1, 0), "d": (0, -1, 0), "r": (0, 0, 1), "f": (0, 0, -1)}
_JOINT: Final = {"+": 1, "=": 1, "-": -1}
_GRIPPER: Final = {"o": 1, "c": -1}
_DIGITS: Final = "123456"
KEYS: Final = frozenset({"\t", *_TOOL, *_JOINT, *_GRIPPER, *_DIGITS})


class KeyboardLeader:
    """A `LeaderDevice` fed by `press`, from any thread. Has no dead-man: a station that asks for one refuses it."""

    def __init__(self, jog: Jog, clock: Clock) -> None:
        self._jog, self._clock = jog, clock
        self._lock = threading.Lock()
        self._read_ns: int | None = None

    def press(self, key: str) -> bool:
        """One key; whether it means something here."""
        with self._lock:
            if key == "\t":
                self._jog.other_arm()
            elif key in _JOINT:
                self._jog.step_joint(_JOINT[key])
            elif key in _TOOL:
                self._jog.step_tool(_TOOL[key])  # type: ignore[arg-type]
            elif key in _GRIPPER:
                self._jog.step_gripper(_GRIPPER[key])
            elif key in KEYS:
                self._jog.joint = int(key)
            else:
                return False
            return True

    def open(self) -> None:
        """Nothing to open."""

    def read(self, goal: LeaderGoal | None) -> LeaderSample:
        now_ns = self._clock.now_ns()
        with self._lock:
            if goal is not None and not goal.free:
                self._jog.set(goal.pose)
            elapsed_s = 0.0 if self._read_ns is None else (now_ns - self._read_ns) / NS_PER_S
            pose = self._jog.advance(min(elapsed_s, 0.1))
        self._read_ns = now_ns
        return LeaderSample(pose, now_ns)

    def close(self) -> None:
        """Nothing to let go."""
