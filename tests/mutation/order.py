"""In which order a mutant's tests are run: the ones that have noticed most for their price first."""

from __future__ import annotations

import json
import os
from collections import Counter

import hypothesis
import pytest


class Order:
    """Learns from what `Notes` of each run say; a mutant that is noticed by the first test costs no more than that."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._noticed: Counter[str] = Counter()

    def learn(self, notes: str) -> None:
        """Of one run."""
        for line in notes.splitlines():
            test, seconds, failed = json.loads(line)
            self._seconds.setdefault(test, seconds)
            self._noticed[test] += failed

    def price(self, test: str) -> float:
        """Seconds for each mutant that it notices."""
        return self._seconds.get(test, 0.0) / (self._noticed[test] + 0.5)

    def sort(self, items: list[pytest.Item]) -> None:
        """Cheapest first."""
        items.sort(key=lambda item: self.price(item.nodeid))


class Notes:
    """The pytest plugin of one run: sorts the tests, and writes each one's name, seconds and failure down."""

    def __init__(self, order: Order, descriptor: int) -> None:
        self._order, self._descriptor = order, descriptor

    def pytest_sessionstart(self) -> None:
        """After `conftest` has chosen its own profile, and before any test is read."""
        hypothesis.settings.register_profile(
            "mutation",
            derandomize=True,
            deadline=None,
            database=None,
            phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        )
        hypothesis.settings.load_profile("mutation")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Before the first test."""
        self._order.sort(items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """After each part of a test."""
        if report.when == "call" or report.failed:
            line = json.dumps((report.nodeid, report.duration, report.failed)) + "\n"
            os.write(self._descriptor, line.encode())
