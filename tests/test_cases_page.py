"""The page of cases names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = [line.split(" | ") for line in (ROOT / "docs/cases.md").read_text().splitlines() if line.startswith("| B")]


@pytest.mark.parametrize("row", ROWS, ids=[row[0].removeprefix("| ") for row in ROWS])
def test_every_case_names_tests_that_there_are(row: list[str]) -> None:
    named = re.findall(r"`([^`]+)`", row[2])
    assert named
    for name in named:
        file, _, test = name.partition("::")
        text = (ROOT / "tests" / file).read_text()
        assert f"def {test}(" in text if test else "def test_" in text, name


def test_every_case_that_a_test_names_is_on_the_page() -> None:
    listed = {row[0].removeprefix("| ") for row in ROWS}
    named = {case for path in (ROOT / "tests").rglob("*.py") for case in re.findall(r"\bB\d\d\b", path.read_text())}
    assert named <= listed
