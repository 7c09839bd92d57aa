"""A server on a thread of this process: for notebooks, benches and tests. Robots get a process of their own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from contract.errors import StackError
from policy_server.server.served_policy import PolicyLoader
from policy_server.server.service import PolicyServer, open_server
from policy_server.server.settings import ServeSettings

ANY_PORT: Final = "tcp://127.0.0.1:0"


class BackgroundServer:
    """Turns a server until `stop`; `failure` is what ended it before, if anything did."""

    def __init__(self, server: PolicyServer) -> None:
        self.server = server
        self.endpoint = server.endpoint
        self.failure: StackError | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._main, name="server", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """End the server and wait for it: two seconds, more only where the machine stands still."""
        self._stop.set()
        self._thread.join(30.0)

    def wait(self, timeout_s: float) -> bool:
        """Whether the server ended by itself within `timeout_s`."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _main(self) -> None:
        try:
            while not self._stop.is_set():
                self.server.turn()
        except StackError as error:
            self.failure = error
        finally:
            self.server.close()


@contextmanager
def background_server(load: PolicyLoader, settings: ServeSettings | None = None) -> Iterator[BackgroundServer]:
    """A bound server that is stopped at the end of the block; a free port of the loopback unless `settings` say."""
    running = BackgroundServer(open_server(load, settings or ServeSettings(bind=ANY_PORT)))
    running.start()
    try:
        yield running
    finally:
        running.stop()
