"""A server on a thread of this process: for notebooks, benches and tests. Robots get a process of their own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from contract.errors import StackError
from policy_server.server.served_policy import PolicyLoader
from policy_server.server.service import PolicyServer, ServeSettings

ANY_PORT = "tcp://127.0.0.1:0"


class BackgroundServer:
    """Runs until `stop`. `endpoint` is known after `start`; `failure` is what ended it, if anything did."""

    def __init__(self, load: PolicyLoader, settings: ServeSettings) -> None:
        self.server = PolicyServer(load, settings)
        self.endpoint = ""
        self.failure: StackError | None = None
        self._stop = threading.Event()
        self._bound = threading.Event()
        self._thread = threading.Thread(target=self._main, name="server", daemon=True)

    def start(self) -> None:
        """Bind; loading goes on behind. Raises what binding raised."""
        self._thread.start()
        self._bound.wait()
        if not self.endpoint and self.failure is not None:
            raise self.failure

    def stop(self) -> None:
        """End the server and wait for it, about two seconds at most."""
        self._stop.set()
        self._thread.join(3.0)

    def _main(self) -> None:
        try:
            try:
                self.endpoint = self.server.open()
            finally:
                self._bound.set()
            while not self._stop.is_set():
                self.server.turn()
        except StackError as error:
            self.failure = error
        finally:
            self.server.close()


@contextmanager
def background_server(load: PolicyLoader, settings: ServeSettings | None = None) -> Iterator[BackgroundServer]:
    """A bound server that is stopped at the end of the block; a free port of the loopback unless `settings` say."""
    server = BackgroundServer(load, settings or ServeSettings(bind=ANY_PORT))
    server.start()
    try:
        yield server
    finally:
        server.stop()
