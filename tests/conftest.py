"""OpenGL is chosen once, before any test module imports MuJoCo (i2rt does, so a test of the arms can be first).

Tests of processes that keep real time are marked `realtime` by where they stand: `make test` runs them one at a time,
after the others have shared the processors, and again when the machine did not give them their time (`tests/again.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, settings

from robot_client.twin import gl
from tests.again import pytest_runtest_protocol, pytest_terminal_summary, pytest_unconfigure

__all__ = ["pytest_runtest_protocol", "pytest_terminal_summary", "pytest_unconfigure"]

gl.choose()
# An example that takes long on a busy machine, to run or to make, is no fault of the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

REALTIME: Final = (
    "calibration/test_tr_recorded",
    "robot_client/bench",
    "robot_client/cameras/test_real_line",
    "robot_client/demo",
    "robot_client/episodes/test_line",
    "robot_client/episodes/test_recorder_process",
    "robot_client/episodes/test_rig_replay",
    "robot_client/faults",
    "robot_client/holder",
    "robot_client/latency",
    "robot_client/link/test_slow_consumer",
    "robot_client/soak",
    "robot_client/teleop/test_i2rt_leaders",
    "robot_client/test_robot_processes",
    "robot_client/trial",
    "robot_client/twin/test_bench",
    "robot_client/twin/test_process",
    "policy_server/bench",
    "ros",
    "training/test_circle",
)
"""Folders and files of tests whose processes need a processor when they ask for it."""


REALTIME_S: Final = 600.0
"""Against one that hangs, all its tries together."""
CASE: Final = re.compile(r"\bB\d\d\b")


def cases_of(item: pytest.Item) -> set[str]:
    """Cases (docs/cases.md) that a test or its file names in its docstring."""
    words = [getattr(getattr(item, of, None), "__doc__", None) or "" for of in ("function", "module")]
    return set(CASE.findall(" ".join(words)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what keeps real time; `pytest -k B14` runs the tests of that case."""
    root = Path(__file__).parent
    for item in items:
        place = item.path.relative_to(root).as_posix() if item.path.is_relative_to(root) else ""
        item.extra_keyword_matches.update(cases_of(item))
        if place.startswith(REALTIME):
            item.add_marker(pytest.mark.realtime)
            item.add_marker(pytest.mark.timeout(REALTIME_S))


if TYPE_CHECKING:
    from robot_client.twin.twin import Twin


@pytest.fixture(scope="session")
def twin() -> Iterator[Twin]:
    """One compiled twin in simulated time; every test resets it."""
    from robot_client.twin.twin import make_twin

    made = make_twin()
    yield made
    made.close()
