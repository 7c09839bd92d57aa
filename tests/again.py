"""Tests of what keeps real time are run again when they failed while the machine did not give them their time.

An arm's holder rightly holds when its client is late, and a run rightly stops. Such a failure says nothing about the
code; on a machine that was all theirs it does, and stands.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import pytest
from _pytest.runner import runtestprotocol

from tests.standstill import Witness

TRIES: Final = 3
_witness: pytest.StashKey[Witness] = pytest.StashKey()
_again: pytest.StashKey[list[str]] = pytest.StashKey()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Runs a test of what keeps real time, `TRIES` times at most."""
    if item.get_closest_marker("realtime") is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _last_reports(item, nextitem):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _last_reports(item: pytest.Item, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
    stash = item.config.stash
    witness = stash[_witness] = stash.get(_witness, None) or Witness()
    for left in reversed(range(TRIES)):
        witness.begin()
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        failed = [report for report in reports if report.failed]
        trouble = witness.trouble() if failed else ""
        # A test that hung has used up its time, and nothing would end it the next time.
        if not trouble or not left or "from pytest-timeout" in failed[0].longreprtext:
            break
        why = failed[0].longreprtext.splitlines()[-1]
        stash.setdefault(_again, []).append(f"{item.nodeid}: {trouble} while it failed: {why}")
        with suppress(Exception):  # what a broken fixture says at its end belongs to the try that failed
            item.session._setupstate.teardown_exact(None)
    return reports


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Says which were run again, and why."""
    again = config.stash.get(_again, [])
    if again:
        terminalreporter.section("run again")
        for line in again:
            terminalreporter.line(line)


def pytest_unconfigure(config: pytest.Config) -> None:
    """The witness goes."""
    witness = config.stash.get(_witness, None)
    if witness is not None:
        witness.close()
