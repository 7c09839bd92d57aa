"""The processes of a run: started in their own sessions, watched, and ended in bounded time."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contract.errors import RigError

_TAIL_LINES = 6
_POLL_S = 0.02
_KILLED_S = 0.3


@dataclass(slots=True)
class Child:
    """One child process and its log file."""

    name: str
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def running(self) -> bool:
        """Still alive."""
        return self.process.poll() is None

    def tail(self) -> str:
        """The last lines of its log."""
        if not self.log.is_file():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-_TAIL_LINES:])

    def wait_for_line(self, start: str, timeout_s: float) -> str:
        """The first log line that begins with `start`. Raises `RigError` with its last lines if it dies or is slow."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            for line in self.log.read_text(errors="replace").splitlines():
                if line.startswith(start):
                    return line
            if not self.running:
                break
            time.sleep(_POLL_S)
        self.require_running()
        raise RigError(
            f"{self.name}", expected=f"ready within {timeout_s:.0f} s", got="silence", remedy=f"see {self.log}"
        )

    def require_running(self) -> None:
        """Raises `RigError` with the end of its log when it has died."""
        if not self.running:
            raise RigError(
                f"{self.name} ended with code {self.process.returncode}", got=self.tail(), remedy=f"see {self.log}"
            )

    def wait(self, timeout_s: float) -> bool:
        """Whether it ended by itself in time."""
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def ask_to_end(self) -> None:
        """SIGTERM, if it still runs; returns at once."""
        if self.running:
            self.process.send_signal(signal.SIGTERM)

    def end(self, timeout_s: float) -> bool:
        """Asks it to end (SIGTERM), then ends it (SIGKILL); whether it is gone."""
        return not end_all([self], timeout_s)


def end_all(children: Sequence[Child], timeout_s: float) -> list[Child]:
    """Ends all at the same time: SIGTERM, and SIGKILL for those that still run after `timeout_s`.

    Returns those that even that did not end soon, as a process that waits in the kernel for a disk.
    """
    for child in children:
        child.ask_to_end()
    left = _still_running(children, timeout_s)
    for child in left:
        child.process.kill()
    return _still_running(left, _KILLED_S)


def _still_running(children: Sequence[Child], timeout_s: float) -> list[Child]:
    until_s = time.monotonic() + timeout_s
    return [child for child in children if not child.wait(max(0.0, until_s - time.monotonic()))]


def start_child(name: str, module_args: Sequence[str], logs: Path, fds: Sequence[int] = (), eof: bool = False) -> Child:
    """Runs `python -m MODULE ARGS...` in a session of its own, so that a Ctrl-C in the terminal reaches only us.

    With `eof` the child's standard input is a pipe that ends when we do.
    """
    log = logs / f"{name}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", *module_args],
            stdin=subprocess.PIPE if eof else subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            pass_fds=tuple(fds),
            start_new_session=True,
        )
    return Child(name, log, process)


def start_server(bundle: Path, logs: Path) -> Child:
    """A policy server on a free port; `READY address` is in its log once it answers. Ends when we do."""
    args = ["policy_server", "serve", "--bundle", str(bundle), "--bind", "tcp://127.0.0.1:0"]
    # One thread: the other core is the loop's and the twin's.
    return start_child("policy_server", [*args, "--threads", "1", "--stop-with-stdin"], logs, eof=True)
