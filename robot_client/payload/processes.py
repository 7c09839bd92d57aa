"""Processes of the payload bench: started, spoken to line by line, ended whatever happens."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Final

from contract.errors import ConfigurationError

_LINE_S: Final = 60.0
_END_S: Final = 3.0
_MOST_WORDS: Final = 500


class LineProcess:
    """One process that answers lines with lines, and ends when its standard input does."""

    def __init__(self, process: subprocess.Popen[bytes], name: str, words: IO[bytes]) -> None:
        self._process, self._name, self._words, self._rest = process, name, words, b""

    def samples(self, count: int) -> list[int]:
        """`count` round trips [ns]."""
        if self._process.stdin is not None:
            self._process.stdin.write(b"%d\n" % count)
            self._process.stdin.flush()
        return [int(value) for value in json.loads(self.line())]

    def ready(self) -> str:
        """The word after READY."""
        while not (line := self.line()).startswith("READY "):
            pass
        return line.split()[1]

    def line(self) -> str:
        """Its next line. Raises `ConfigurationError` when it ends or says nothing for a minute."""
        stream, until_s = self._process.stdout, time.monotonic() + _LINE_S
        while b"\n" not in self._rest and stream is not None:
            ready, _, _ = select.select([stream], (), (), max(0.0, until_s - time.monotonic()))
            data = os.read(stream.fileno(), 1 << 20) if ready else b""
            if not data:
                raise ConfigurationError(
                    f"process {self._name}",
                    expected="a line",
                    got=f"nothing, exit code {self._process.poll()}: {self._last_words()}",
                    remedy="run the bench again",
                )
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()

    def _last_words(self) -> str:
        self._words.seek(0)
        return self._words.read()[-_MOST_WORDS:].decode(errors="replace").strip()

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
def process(name: str, command: Sequence[str]) -> Iterator[LineProcess]:
    """A running process, ended with the block."""
    with tempfile.TemporaryFile() as words:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words)
        running = LineProcess(child, name, words)
        try:
            yield running
        finally:
            running.end()
