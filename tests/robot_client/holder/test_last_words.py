"""Last words of commands that use real arms, and of a start that is interrupted or fails (B29)."""

from __future__ import annotations

import io
import os
import signal
import sys

import pytest

from contract.errors import ConfigurationError, RigError
from robot_client import arm_commands, last_words
from robot_client.holder import account, start
from robot_client.holder.start import Started
from robot_client.last_words import arms_named_last

NAMED = ["left arm: holding", "right arm: falling"]


@pytest.fixture(autouse=True)
def holders(monkeypatch: pytest.MonkeyPatch) -> None:
    """No arms: what their holders say."""
    monkeypatch.setattr(last_words, "last_account", lambda station: (NAMED, False))
    monkeypatch.setattr(account, "account", lambda station, run_dir, chosen: (NAMED, False))


@pytest.mark.parametrize(("error", "code"), [(RigError("loop ended"), 1), (ConfigurationError("speed"), 2)])
def test_trouble_is_said_first_and_then_each_arm(error: Exception, code: int) -> None:
    said = list[str]()
    with pytest.raises(SystemExit) as ended, arms_named_last("yam", "yam_example", said.append):
        raise error
    assert ended.value.code == code
    assert said == [f"yam-robot: {error}", *NAMED]


def test_the_arms_are_named_after_an_end_without_trouble_and_after_an_unplanned_error() -> None:
    """B29: the traceback of such an error came after them, and they were out of sight."""
    said = list[str]()
    with arms_named_last("yam", "yam_example", said.append):
        said.append("done")
    assert said == ["done", *NAMED]
    with pytest.raises(SystemExit) as ended, arms_named_last("yam", "yam_example", said.append):
        raise ZeroDivisionError
    assert ended.value.code == 1
    assert "ZeroDivisionError" in said[3] and said[4:] == NAMED


def test_where_arms_have_no_holders_nothing_is_added() -> None:
    said = list[str]()
    with pytest.raises(RigError), arms_named_last("ideal", "twin", said.append):
        raise RigError("loop ended")
    assert said == []


def test_a_signal_does_not_break_a_start_off_half_way(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command was gone in silence, with exit code 0, and the arms got torque a second later. Of arms that had a
    holder it said "held", also of relaxed ones."""

    def begin(*_: object) -> dict[str, Started]:
        os.kill(os.getpid(), signal.SIGINT)
        return {"left": Started(11, False), "right": Started(12, True)}

    monkeypatch.setattr(start, "start_holders", begin)
    with pytest.raises(SystemExit) as ended:
        arm_commands.arms("start", "yam_example")
    assert ended.value.code == 1
    assert capsys.readouterr().out.splitlines() == [
        "left arm: started: process 11",
        "right arm: was there before: process 12",
        *NAMED,
    ]


@pytest.mark.parametrize("typed", ["", "yes\n", "supporte\n"])
def test_arms_are_let_go_only_by_the_word_and_nobody_at_the_keys_is_no_word(
    monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    """Without a terminal it was a traceback."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    monkeypatch.setattr(start, "clients", lambda *_: pytest.fail("nothing may be asked of a holder"))
    with pytest.raises(RigError, match="they stay held"):
        arm_commands.arms("relax", "yam_example")


def test_a_start_that_fails_says_how_it_left_the_arms(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> dict[str, Started]:
        raise RigError("arms not started", got="left arm: no torque")

    monkeypatch.setattr(start, "start_holders", fails)
    with pytest.raises(SystemExit) as ended:
        arm_commands.arms("start", "yam_example")
    assert ended.value.code == 1
    assert capsys.readouterr().out.splitlines() == ["yam-robot: arms not started: got left arm: no torque", *NAMED]
