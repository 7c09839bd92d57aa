"""Exit codes of `yam-robot` when a signal comes before the command can take it, and how long it takes to be gone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.waiting import PATIENCE_S

STOPPED = (
    "import os, signal; from robot_client import cli; cli._run = lambda: os.kill(os.getpid(), signal.{0}); cli.main()"
)
OVER = """
import threading, time
from robot_client import cli
from robot_client.run_over import RunOver

def run():
    threading.Thread(target=time.sleep, args=(600.0,)).start()
    print("arms:   HOLD")
    raise RunOver(1)

cli._run = run
cli.main()
"""


def started(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "name", "code"),
    [
        ("park", "SIGINT", 130),
        ("arms", "SIGTERM", 143),
        ("faults", "SIGINT", 130),
        ("run", "SIGINT", 0),
        ("demo", "SIGTERM", 0),
    ],
)
def test_a_command_that_was_stopped_before_it_did_anything_does_not_say_that_it_did(
    command: str, name: str, code: int
) -> None:
    """B29: `yam-robot park` ended by Ctrl-C while it loaded was exit code 0, as if the arms lay parked, and
    `park && arms power-off` went on. A run may be ended at any time."""
    done = started(STOPPED.format(name), command)
    assert done.returncode == code
    assert done.stderr == ("" if code == 0 else f"yam-robot: stopped by {name}\n")


def test_a_run_that_said_its_last_word_is_gone_with_its_exit_code() -> None:
    """On a busy machine Python took 2.5 s more to leave: 10 s from Ctrl-C to the end of the process.

    Who waits for the thread of this one waits ten minutes."""
    done = started(OVER)
    assert (done.returncode, done.stdout) == (1, "arms:   HOLD\n")
