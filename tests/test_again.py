"""A test of what keeps real time is run again when the machine stood still, and only then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.standstill import LONGEST_S, Witness
from tests.waiting import PATIENCE_S, until

ROOT = Path(__file__).resolve().parent.parent
CONFTEST = """
import pytest
from tests import again
from tests.again import pytest_runtest_protocol, pytest_terminal_summary, pytest_unconfigure

class Witness:
    def begin(self): pass
    def close(self): pass
    def trouble(self): return {trouble!r}

again.Witness = Witness
"""
TESTS = """
import pytest
pytestmark = pytest.mark.realtime
made, tries = [], []

@pytest.fixture(scope="module")
def run():
    made.append(len(made))
    return made[-1]

def test_that_fails_in_the_first_run(run):
    assert run > 0

def test_that_fails_always():
    tries.append(1)
    assert len(tries) < 0, f"try {len(tries)}"

def test_that_passes(run):
    pass
"""


def tried(folder: Path, trouble: str) -> str:
    """What pytest says of `TESTS` on a machine with that trouble."""
    (folder / "conftest.py").write_text(CONFTEST.format(trouble=trouble))
    (folder / "test_some.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = realtime\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, cwd=folder, env=env).stdout


def test_what_failed_while_the_machine_stood_still_is_run_again_with_all_it_stands_on(tmp_path: Path) -> None:
    said = tried(tmp_path, "the machine stood still for 1.0 s")
    assert "1 failed, 2 passed" in said
    assert "try 3" in said and "try 4" not in said
    assert said.count("the machine stood still for 1.0 s while it failed") == 3, "once, and twice"


def test_what_failed_on_a_machine_that_was_all_its_own_has_failed(tmp_path: Path) -> None:
    said = tried(tmp_path, "")
    assert "2 failed, 1 passed" in said
    assert "try 1" in said and "try 2" not in said and "run again" not in said


def test_a_standstill_is_seen_for_as_long_as_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.standstill.MOST_WAITING", 2.0)
    witness = Witness()
    try:
        witness.begin()

        def seen() -> bool:
            """Once Python has started there."""
            os.kill(witness._process.pid, signal.SIGSTOP)
            time.sleep(2 * LONGEST_S)
            os.kill(witness._process.pid, signal.SIGCONT)
            return witness.trouble().startswith("the machine stood still for")

        assert until(seen)
        witness.begin()
        witness._begun_s += PATIENCE_S
        assert witness.trouble() == ""
    finally:
        witness.close()
