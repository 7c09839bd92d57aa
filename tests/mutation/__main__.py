"""Changes the code that must not be wrong, a little at a time, and runs its quick tests on each change.

    python -m tests.mutation [--only safety/interval.py] [--json out/bench/mutate.json]

A change that no test notices survives. Survivors must stand in `equivalent.toml` with the reason why they change
nothing; one that does not, or an entry that no longer survives, fails the run. Nothing in the working tree is changed:
each mutant lives in a process of its own, forked after the libraries were imported.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import select
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from contract.toml import read_toml
from tests.mutation.mutants import Mutant, mutants_of

ROOT: Final = Path(__file__).resolve().parents[2]
EQUIVALENT: Final = Path(__file__).with_name("equivalent.toml")
_SAFETY: Final = "tests/robot_client/safety/"
QUICK: Final[dict[str, tuple[str, ...]]] = {
    "robot_client/safety/veto.py": (_SAFETY + "test_veto.py",),
    "robot_client/safety/interval.py": (_SAFETY + "test_limiter.py",),
    "robot_client/safety/limits.py": (_SAFETY + "test_limiter.py", _SAFETY + "test_jerk.py"),
    "robot_client/safety/segments.py": (_SAFETY + "test_segments.py",),
    "robot_client/safety/kinematics.py": (_SAFETY + "test_tool_speed.py", _SAFETY + "test_space.py"),
    "robot_client/safety/tool_speed.py": (_SAFETY + "test_tool_speed.py",),
    "robot_client/safety/stopping.py": (_SAFETY + "test_stopping.py",),
    "robot_client/safety/jerk.py": (_SAFETY + "test_jerk.py",),
    "robot_client/safety/space.py": (_SAFETY + "test_space.py", _SAFETY + "test_guard.py"),
    "robot_client/safety/clearance.py": (_SAFETY + "test_clearance.py", _SAFETY + "test_guard.py"),
    "robot_client/safety/guard.py": (_SAFETY + "test_guard.py", _SAFETY + "test_tool_speed.py"),
    "robot_client/safety/limiter.py": (
        _SAFETY + "test_limiter.py",
        _SAFETY + "test_jerk.py",
        _SAFETY + "test_guard.py",
        _SAFETY + "test_tool_speed.py",
    ),
    "robot_client/row_grid.py": ("tests/robot_client/test_chunk_buffer.py",),
    "robot_client/chunk_entry.py": ("tests/robot_client/test_chunk_buffer.py",),
    "robot_client/chunk_buffer.py": ("tests/robot_client/test_chunk_buffer.py",),
    "robot_client/modes.py": ("tests/robot_client/test_modes.py",),
}
"""Which tests are run for which file, quickest first."""
_PATIENCE: Final = 10.0
"""A mutant that takes this many times the processor time of the unchanged file hangs, and is noticed."""
_LONGEST_S: Final = 600.0
_PYTEST: Final = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header")


def main() -> int:
    """Exit 1 on an unlisted survivor or a listed one that is none."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", action="append", default=[], help="part of a file's path; may be given again")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    files = [file for file in QUICK if not arguments.only or any(part in file for part in arguments.only)]
    import hypothesis  # noqa: F401  (imported once, for all forks)
    import scipy.spatial  # noqa: F401

    listed = {(e["file"], e["function"], e["line"], e["change"]): e["reason"] for e in _entries()}
    result, bad = {}, False
    for file in files:
        killed, survivors = run_file(file)
        unknown = [m for m in survivors if (file, *m.key) not in listed]
        found = {(file, *m.key) for m in survivors}
        stale = [key for key in listed if key[0] == file and key not in found]
        print(f"{file}: {killed + len(survivors)} mutants, {killed} noticed, {len(survivors)} survive", flush=True)
        for m in unknown:
            print(f"  UNLISTED line {m.number} in {m.function}: {m.change}\n    {m.line}", flush=True)
        for key in stale:
            print(f"  LISTED but noticed: {key[1]}: {key[3]}\n    {key[2]}", flush=True)
        bad |= bool(unknown or stale)
        result[file] = {"mutants": killed + len(survivors), "noticed": killed, "equivalent": len(found) - len(unknown)}
        result[file]["unlisted"] = len(unknown)
    if arguments.json is not None:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(result, indent=1))
    return 1 if bad else 0


def run_file(file: str) -> tuple[int, list[Mutant]]:
    """How many mutants of a file were noticed, and those that were not."""
    source, tests = (ROOT / file).read_text(), QUICK[file]
    module = file.removesuffix(".py").replace("/", ".")
    begun = time.monotonic()
    if _run(module, source, tests, 0.0) != 0:
        raise SystemExit(f"{file}: its own tests fail without any change: {', '.join(tests)}")
    longest_s = max(5.0, _PATIENCE * (time.monotonic() - begun))
    killed, survivors = 0, []
    for mutant in mutants_of(source):
        if _run(module, mutant.source, tests, longest_s) == 0:
            survivors.append(mutant)
        else:
            killed += 1
    return killed, survivors


def _run(module: str, source: str, tests: Sequence[str], longest_s: float) -> int:
    """Exit code of the tests with `source` in place of the module; -9 when it had to be ended."""
    child = os.fork()
    if child == 0:
        os._exit(_child(module, source, tests))
    handle = os.pidfd_open(child)
    ended, _, _ = select.select([handle], [], [], longest_s or _LONGEST_S)
    os.close(handle)
    if not ended:
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _child(module: str, source: str, tests: Sequence[str]) -> int:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.chdir(ROOT)
    os.environ["YAM_QUICK_TESTS"] = "1"
    try:
        sys.meta_path.insert(0, _Finder(module, source))
        return int(pytest.main([*_PYTEST, *tests]))
    except BaseException:  # the outermost main of this process: whatever it is, the mutant was noticed
        return 70


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the mutant in place of one module."""

    def __init__(self, module: str, source: str) -> None:
        self._module, self._source = module, source

    def find_spec(self, name: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        """Of that module only."""
        if name != self._module:
            return None
        return importlib.util.spec_from_loader(name, self, origin=str(ROOT / (name.replace(".", "/") + ".py")))

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """The usual one."""

    def exec_module(self, module: ModuleType) -> None:
        """Runs the mutant."""
        exec(compile(self._source, f"<mutant of {module.__name__}>", "exec"), module.__dict__)


def _entries() -> list[dict[str, str]]:
    return list(read_toml(EQUIVALENT).get("survivor", [])) if EQUIVALENT.is_file() else []


if __name__ == "__main__":
    sys.exit(main())
