"""On real arms a run begins at home, unless somebody or something wanted a HOLD on the way there."""

from __future__ import annotations

import os
import pty
from collections import deque
from types import SimpleNamespace

import pytest

from contract.errors import RigError
from robot_client.demo.interrupt import Interrupt
from robot_client.local_messages import LoopStatus
from robot_client.trial import attempt
from robot_client.trial.attempt import Attempt
from robot_client.trial.keys import Keys, NoKeys, terminal_keys


class Loop:
    """Stands for all processes of a run: answers what a person does with the loop's next words."""

    twin = loop = None

    def __init__(self, home: str = "pose:home reached") -> None:
        self._leads_to = {"home": ("HOLD", home), "release": ("IDLE", ""), "engage": ("HANDOFF", "")}
        self._said: deque[LoopStatus] = deque()
        self.told: list[str] = []

    def tell(self, act: str) -> None:
        if act in self._leads_to:
            mode, reason = self._leads_to[act]
            self._said.append(LoopStatus(0, mode, "", 0, "", reason, -1, "", 0, True, {}, {}, False))
        if act != "alive":
            self.told.append(act)

    def messages(self) -> list[LoopStatus]:
        return [self._said.popleft()] if self._said else []

    def require_running(self) -> None:
        """It runs."""


def _engaged(loop: Loop, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> Attempt:
    monkeypatch.setattr(attempt, "Processes", lambda settings, say: loop)
    run = Attempt(SimpleNamespace(rig="yam"), Interrupt(), keys)  # type: ignore[arg-type]
    run._engage()
    return run


def test_from_home_the_policy_is_engaged(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop()
    _engaged(loop, NoKeys(), monkeypatch)
    assert loop.told == ["home", "release", "engage"]


@pytest.mark.parametrize("reason", ["joints are 208 ms old", "hold by a person", ""])
def test_a_hold_on_the_way_home_is_not_left_by_itself(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any HOLD was taken for home: a watchdog's, or a person's, was released at once and the policy engaged."""
    loop = Loop(home=reason)
    with pytest.raises(RigError, match="HOLD"):
        _engaged(loop, NoKeys(), monkeypatch)
    assert loop.told == ["home"]


class _Space:
    """A person presses space in the given look at the keys."""

    def __init__(self, at: int) -> None:
        self._left = at

    def pressed(self, timeout_s: float = 0.0) -> str:
        self._left -= 1
        return " " if self._left == 0 else ""


@pytest.mark.parametrize("at", [1, 2, 3])
def test_the_key_for_hold_is_the_last_word_before_engagement(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key was passed on, and "release" and "engage" right after it."""
    loop = Loop()
    with pytest.raises(RigError):
        _engaged(loop, _Space(at), monkeypatch)
    assert loop.told[-1] == "hold"


def test_two_keys_typed_at_once_are_two_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of them, the one for hold, stayed in a buffer until the next was typed."""
    master, slave = pty.openpty()
    try:
        os.set_blocking(slave, True)
        monkeypatch.setattr("sys.stdin", os.fdopen(os.dup(slave), "r"))
        with terminal_keys() as keys:
            os.write(master, b"n ")
            assert [keys.pressed(5.0), keys.pressed(0.0), keys.pressed(0.0)] == ["n", " ", ""]
    finally:
        os.close(master)
        os.close(slave)
