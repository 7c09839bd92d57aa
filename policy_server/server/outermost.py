"""The outermost frame of the inference thread: whatever nobody planned becomes a typed error, with its traceback."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from contract.errors import EngineError, StackError
from policy_server.server.log_lines import Seldom, log_line

_log = logging.getLogger("policy_server.server")


class Outermost:
    """Turns unplanned exceptions of policies and their libraries into `EngineError`; logs each kind now and then."""

    def __init__(self) -> None:
        self._seldom = Seldom()

    @contextmanager
    def frame(self, where: str) -> Iterator[None]:
        """Lets `StackError` through as it is."""
        try:
            yield
        except StackError:
            raise
        except Exception as error:  # outermost: unreported, one bad call would end the thread and nobody would answer
            kind = type(error).__name__
            times = self._seldom.count(f"{where} {kind}")
            if times is not None:
                _log.error(log_line("unplanned", where=where, error=kind, times=times), exc_info=error)
            raise EngineError(
                where,
                expected="an answer or a typed error",
                got=f"{kind}: {error}"[:500],
                remedy="see the server's log; report it with the traceback",
            ) from error
