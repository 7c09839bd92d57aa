"""Runs the quick tests of one file on a changed source of it, in a process of its own.

Nothing in the working tree is changed: each process is forked after the libraries were imported, and gets the mutant
in place of the module. Plugins, shrinking of found examples and the example database are left out: they cost more than
the tests. The test that noticed most mutants for its price is run first (`order`).
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import math
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Sequence
from types import ModuleType
from typing import Final

import pytest

from robot_client.twin import gl
from tests.mutation.order import Notes, Order
from tests.mutation.targets import QUICK, ROOT

_PATIENCE: Final = 8.0
"""A mutant that takes this many times the processor time of the unchanged file hangs, and is noticed."""
_SHORTEST_S: Final = 5.0
_LONGEST_S: Final = 600.0
"""On the wall, for a mutant that waits for something."""
_PYTEST: Final = (
    *("-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no"),
    *("-o", "addopts=--import-mode=importlib"),
)
_LIBRARIES: Final = ("numpy.ma", "scipy.spatial", "hypothesis.extra.numpy", "mujoco", "contract.station")


class Trial:
    """One process that runs the tests on one mutant."""

    def __init__(self, child: int, notes: int, until_s: float) -> None:
        self._child, self._notes, self.until_s = child, notes, until_s
        self.handle = os.pidfd_open(child)
        self.survived = False
        self.told = ""
        """What `Notes` wrote."""

    def close(self, kill: bool) -> float:
        """Its processor time [s]."""
        if kill:
            os.kill(self._child, signal.SIGKILL)
        _, status, used = os.wait4(self._child, 0)
        os.close(self.handle)
        with os.fdopen(self._notes, "r+") as written:
            written.seek(0)
            self.told = written.read()
        self.survived = os.waitstatus_to_exitcode(status) == 0
        return float(used.ru_utime + used.ru_stime)


class Runner:
    """Of the tests that stand for one file."""

    def __init__(self, file: str) -> None:
        self._module, self._tests = file.removesuffix(".py").replace("/", "."), QUICK[file]
        self._longest_s = _LONGEST_S
        self._order = Order()
        self.spent_s = 0.0

    def tests_text(self) -> list[str]:
        """The tests' own text."""
        return [(ROOT / test).read_text() for test in self._tests]

    def calibrate(self, source: str) -> None:
        """How long a mutant may take; ends the run where the unchanged file fails its tests."""
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        gl.choose()  # before mujoco is imported
        for library in _LIBRARIES:
            importlib.import_module(library)
        if not self.passes(source):
            raise SystemExit(f"{self._module}: its own tests fail without any change: {', '.join(self._tests)}")
        self._longest_s = max(_SHORTEST_S, _PATIENCE * self.spent_s)

    def passes(self, source: str) -> bool:
        """Whether no test notices that `source` is in place of the module."""
        return self.first_ended([self.begin(source)]).survived

    def begin(self, source: str) -> Trial:
        """A process of its own runs the tests on `source`."""
        notes = os.memfd_create("notes")
        child = os.fork()
        if child == 0:
            os._exit(self._child(source, notes))
        return Trial(child, notes, time.monotonic() + _LONGEST_S)

    def first_ended(self, trials: Sequence[Trial]) -> Trial:
        """Waits for one of them; one that waits for something for too long is ended."""
        by_handle = {trial.handle: trial for trial in trials}
        soonest = min(trials, key=lambda trial: trial.until_s)
        ended, _, _ = select.select(list(by_handle), [], [], max(0.0, soonest.until_s - time.monotonic()))
        trial = by_handle[ended[0]] if ended else soonest
        self.spent_s = trial.close(kill=not ended)
        self._order.learn(trial.told)
        return trial

    def _child(self, source: str, notes: int) -> int:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os.chdir(ROOT)
        # Processor time: on a busy machine a mutant must not count as noticed because it had to wait.
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(self._longest_s), math.ceil(self._longest_s) + 1))
        try:
            sys.meta_path.insert(0, _Finder(self._module, source))
            return int(pytest.main([*_PYTEST, *self._tests], plugins=[Notes(self._order, notes)]))
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
