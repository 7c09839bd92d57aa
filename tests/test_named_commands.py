"""What the product tells people to type exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("contract", "policy_server", "robot_client", "calibration", "training")


def test_every_program_that_a_message_or_page_names_is_installed() -> None:
    """The doctor recommended `yam-calibrate latency`, a program that there is not."""
    scripts = (ROOT / "pyproject.toml").read_text().split("[project.scripts]")[1].split("[")[0]
    installed = set(re.findall(r"^(yam-\w+) *=", scripts, re.MULTILINE))
    sources = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {
        (program, path.name)
        for path in (*sources, *pages)
        for program in re.findall(r"\b(yam-[a-z]+) [a-z-]+", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 20
    assert {program for program, _ in named} <= installed, sorted(named)
