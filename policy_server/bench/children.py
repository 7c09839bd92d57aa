"""Processes of a benchmark: talk to them line by line, end them whatever happens."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from contract.errors import ConfigurationError

_ANSWER_S: Final = 60.0
_END_S: Final = 3.0


class Child:
    """`python -m MODULE`, its lines, and its end when its standard input is closed."""

    def __init__(self, process: subprocess.Popen[bytes], name: str) -> None:
        self._process, self._name = process, name
        self._rest = b""

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def say(self, line: str) -> None:
        """Write a line to its standard input."""
        if self._process.stdin is not None:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def line(self) -> str:
        """Its next line. Raises `ConfigurationError` when it ends or says nothing for a minute."""
        stream = self._process.stdout
        while b"\n" not in self._rest and stream is not None:
            ready, _, _ = select.select([stream], (), (), _ANSWER_S)
            data = os.read(stream.fileno(), 1 << 20) if ready else b""
            if not data:
                raise ConfigurationError(
                    f"benchmark process {self._name}",
                    expected="a line",
                    got=f"nothing, exit code {self._process.poll()}",
                    remedy="its own message is above",
                )
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()

    def json_line(self) -> Any:
        """Its next line as JSON."""
        return json.loads(self.line())

    def ready_address(self) -> str:
        """The address in its `READY` line; other lines before it do not count."""
        while not (line := self.line()).startswith("READY "):
            pass
        return line.split()[1]

    def end(self) -> None:
        """Close its input, and kill it when that does not help."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(_END_S)


@contextmanager
def child(module: str, *arguments: str) -> Iterator[Child]:
    """A running module, ended with the block."""
    command = (sys.executable, "-m", module, *arguments)
    running = Child(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE), module)
    try:
        yield running
    finally:
        running.end()
