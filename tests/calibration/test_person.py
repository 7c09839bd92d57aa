"""What the person at the terminal is asked, and what counts as an answer."""

from __future__ import annotations

import os
import pty
import select
import sys

import pytest

from calibration.person import told


def test_an_enter_from_before_the_question_is_no_answer_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second Enter at one prompt answered the next one minutes later: the arm set off with hands at the board."""
    ours, theirs = pty.openpty()
    answered = list[bool]()

    def ask(prompt: str) -> str:
        answered.append(bool(select.select([theirs], [], [], 0.0)[0]))
        return ""

    monkeypatch.setattr("builtins.input", ask)
    with os.fdopen(theirs, closefd=False) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        os.write(ours, b"\n")
        assert select.select([theirs], [], [], 10.0)[0]
        told("clamp the board")
    assert answered == [False]
    os.close(ours)
    os.close(theirs)
