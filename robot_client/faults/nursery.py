"""A process that has everything imported and forks children: what is killed 50 times is back at once.

A forked child is a process of its own like any other (own session, own log, kill -9 is kill -9); only the second that
Python takes to start is saved. The nursery itself is a fresh interpreter: a fork of its owner would inherit whatever
locks the owner's threads held and whatever its libraries had set up.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final, cast

from contract.errors import RigError
from robot_client.demo.children import Child

MODULES: Final = ("robot_client.loop_process", "robot_client.planner.__main__", "robot_client.faults.scripted_server")
_MOST_BYTES: Final = 16384
_MOST_FDS: Final = 8
_ANSWER_S: Final = 20.0


class ForkedProcess:
    """What `Child` needs of a `subprocess.Popen`, for a child of the nursery."""

    def __init__(self, pid: int, stdin: IO[bytes] | None) -> None:
        self.pid, self.stdin, self.returncode = pid, stdin, None
        try:
            self._descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            self._descriptor = -1

    def poll(self) -> int | None:
        """None while it runs; its exit code is the nursery's to know, here it is 0."""
        over = self._descriptor < 0 or bool(select.select([self._descriptor], (), (), 0.0)[0])
        return 0 if over else None

    def wait(self, timeout: float) -> int:
        """Raises `subprocess.TimeoutExpired` while it runs."""
        if self._descriptor >= 0 and not select.select([self._descriptor], (), (), timeout)[0]:
            raise subprocess.TimeoutExpired("forked child", timeout)
        return 0

    def send_signal(self, number: int) -> None:
        """To the process, if it is still there."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._descriptor, number)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)


class Nursery:
    """Ends with its owner, when the socket between them is closed."""

    def start(self) -> None:
        """Begin the nursery; what it has to import is imported before the first child."""
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.settimeout(_ANSWER_S)
        command = (sys.executable, "-m", "robot_client.faults.nursery", str(theirs.fileno()))
        self._process = subprocess.Popen(command, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL)
        theirs.close()

    def spawn(
        self, name: str, module: str, args: Sequence[str], logs: Path, fds: Sequence[int] = (), eof: bool = False
    ) -> Child:
        """A child that runs `MODULE.main()`; "{0}", "{1}" in `args` stand for its numbers of `fds`.

        With `eof` its standard input is a pipe that ends when we do.
        """
        read, write = os.pipe() if eof else (os.open(os.devnull, os.O_RDONLY), -1)
        log = logs / f"{name}.log"
        log.touch()
        request = json.dumps({"module": module, "args": list(args), "log": str(log)}).encode()
        socket.send_fds(self._ours, [request], [read, *fds])
        os.close(read)
        answer = self._ours.recv(_MOST_BYTES)
        if not answer:
            raise RigError("nursery", expected="a child", got="its end", remedy=f"see {log}")
        stdin = os.fdopen(write, "wb", buffering=0) if eof else None
        process = ForkedProcess(int(answer), stdin)
        return Child(name, log, cast("subprocess.Popen[bytes]", process))

    def close(self) -> None:
        """End the nursery; children go on."""
        self._ours.close()
        self._process.wait(_ANSWER_S)


def _serve(owner: socket.socket) -> int:
    """The nursery's own life."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children are reaped by the kernel
    for module in MODULES:
        importlib.import_module(module)
    while True:
        request, fds, _, _ = socket.recv_fds(owner, _MOST_BYTES, _MOST_FDS)
        if not request:
            return 0
        pid = os.fork()
        if pid == 0:
            owner.close()
            _be(json.loads(request), fds)
        for descriptor in fds:
            os.close(descriptor)
        owner.send(str(pid).encode())


def _be(request: dict[str, object], fds: Sequence[int]) -> None:
    """A child's whole life."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(str(request["log"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for target, source in ((0, fds[0]), (1, log), (2, log)):
        os.dup2(source, target)
    # Whoever forked us may have put something else in the place of these.
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    module = str(request["module"])
    args = cast("list[str]", request["args"])
    sys.argv = [module, *(text.format(*fds[1:]) if text.startswith("{") else text for text in args)]
    code = 1
    try:
        code = importlib.import_module(module).main()
    finally:
        sys.stdout.flush()
        os._exit(code or 0)


if __name__ == "__main__":
    sys.exit(_serve(socket.socket(fileno=int(sys.argv[1]))))
