"""The person at the terminal: told what to do, and asked before a file is changed."""

from __future__ import annotations

import sys
import termios

from contract.errors import ConfigurationError


def told(line: str) -> None:
    """Says what to do and waits until it is done. Raises `ConfigurationError` when nobody is there to do it."""
    print(line)
    _forget_typed()
    try:
        input("Enter when it is so, Ctrl-C to end: ")
    except EOFError:
        raise ConfigurationError(
            "this routine", expected="a person at the terminal", got="no terminal", remedy="run it in one"
        ) from None


def _forget_typed() -> None:
    """An Enter from before the question is no answer to it: hands may still be at the board when the arm sets off."""
    if sys.stdin.isatty():
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def agrees(question: str) -> bool:
    """Only the whole word yes counts; nobody there is a no."""
    try:
        return input(f"{question} Type yes: ").strip() == "yes"
    except EOFError:
        print()
        return False
