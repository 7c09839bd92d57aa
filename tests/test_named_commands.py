"""What the product tells people to type exists."""

from __future__ import annotations

import importlib
import importlib.util
import io
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("contract", "policy_server", "robot_client", "calibration", "training")
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
SCRIPTS = dict(
    re.findall(
        r'^(yam-\w+) *= *"([\w.]+):main"',
        (ROOT / "pyproject.toml").read_text().split("[project.scripts]")[1].split("[")[0],
        re.MULTILINE,
    )
)
FOREIGN = ("pip", "yam_vam")
"""Modules of others, and the ROS package, which is not on the path of the tests."""


def code_of(page: Path) -> Iterator[str]:
    """What a page shows as code, a command line each: fenced and indented blocks, and spans within the text."""
    text = re.sub(r"\\\n\s*", " ", page.read_text(encoding="utf-8"))
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield line.strip()
        else:
            yield from re.findall(r"`([^`]+)`", line)


def commands_of(page: Path, start: str) -> Iterator[str]:
    """Commands that begin with `start`, without what is said of them to their right."""
    for line in code_of(page):
        for part in re.split(r";|&&|\s\|\s", line):
            found = re.match(rf"(?:\w+=\S+ )*({start}.*)", part.strip())
            if found:
                yield re.split(r"\s{2,}|\s#", found[1])[0]


@contextmanager
def as_typed(words: tuple[str, ...]) -> Iterator[None]:
    """An entry point takes its arguments from the process, and signals with them."""
    before, handlers = sys.argv, {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    sys.argv = list(words)
    try:
        yield
    finally:
        sys.argv = before
        for number, handler in handlers.items():
            signal.signal(number, handler)


@cache
def help_of(words: tuple[str, ...]) -> tuple[object, str]:
    """Exit code and text of `words --help`."""
    said = io.StringIO()
    with as_typed((*words, "--help")), redirect_stdout(said), redirect_stderr(said):
        try:
            code: object = importlib.import_module(SCRIPTS[words[0]]).main()
        except SystemExit as end:
            code = end.code
    return code or 0, said.getvalue()


def path_of(command: str) -> tuple[str, ...]:
    """Program and subcommands: words in small letters, before anything that stands for something else."""
    words: list[str] = []
    for word in command.split():
        if not re.fullmatch(r"[a-z][a-z-]*", word):
            break
        words.append(word)
    return tuple(words)


def test_every_program_that_a_message_or_page_names_is_installed() -> None:
    """The doctor recommended `yam-calibrate latency`, a program that there is not."""
    sources = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    named = {
        (program, path.name)
        for path in (*sources, *PAGES)
        for program in re.findall(r"\b(yam-[a-z]+) [a-z-]+", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 20
    assert {program for program, _ in named} <= set(SCRIPTS), sorted(named)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_is_understood_with_its_options(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for command in commands_of(page, r"yam-[a-z]+\b"):
        words = path_of(command)
        code, text = help_of(words)
        assert code == 0, f"{command}: there is no {' '.join(words)}: {text[-400:]}"
        for option in re.findall(r"(?<!\S)\[?(--[a-z][a-z-]*)", command):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", text), f"{command}: no option {option}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_target_and_module_of_a_page_is_there(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+(?: [a-z-]+)*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    targets = {name for line in targets for name in line.split()}
    for command in commands_of(page, r"make [a-z-]+\b"):
        assert command.split()[1] in targets, f"{page.name}: make {command.split()[1]}"
    for command in commands_of(page, r"(?:\.venv/bin/)?python3? -m [\w.]+"):
        module = command.split()[2]
        if module.split(".")[0] not in FOREIGN:
            found = importlib.util.find_spec(module)
            whole = found is not None and (found.submodule_search_locations is None or _runs(module))
            assert whole, f"{page.name}: python -m {module}"


def _runs(package: str) -> bool:
    return importlib.util.find_spec(f"{package}.__main__") is not None
