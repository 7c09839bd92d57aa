"""Pages of a running server over HTTP: `/metrics` for Prometheus, `/status` as JSON. Read-only, in their own thread."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from contract.errors import ConfigurationError
from policy_server.server.bind import is_loopback
from policy_server.server.metrics import StatusCollector
from policy_server.server.status import Status

if TYPE_CHECKING:  # new in Python 3.11
    from wsgiref.types import StartResponse, WSGIEnvironment

_REQUEST_S: Final = 5.0
"""A peer that opens a connection and says nothing loses it after this long."""


class Pages:
    """The HTTP server; `close` from any thread."""

    def __init__(self, server: WSGIServer) -> None:
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, name="pages", daemon=True)

    @property
    def address(self) -> str:
        """HOST:PORT, with the real port."""
        host, port = self._server.server_address[:2]
        return f"{host!s}:{port}"

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()


def open_pages(address: str, look: Callable[[], Status], insecure: bool) -> Pages:
    """Pages on `HOST:PORT`. Raises `ConfigurationError` for an address that is open to others without `insecure`."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise ConfigurationError("--metrics", expected="HOST:PORT", got=address, remedy="for example 127.0.0.1:9464")
    if not is_loopback(host) and not insecure:
        raise ConfigurationError(
            "--metrics",
            expected="a loopback address: the pages have no keys",
            got=address,
            remedy="let a proxy with keys stand before them, or --insecure on a network you trust",
        )
    try:
        server = make_server(host, int(port), _application(look), _Server, _Quiet)
    except OSError as error:
        raise ConfigurationError(
            "--metrics", expected="a free address of this machine", got=f"{address}: {error}", remedy="choose another"
        ) from error
    return Pages(server)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    timeout = _REQUEST_S

    def log_message(self, format: str, *args: Any) -> None:
        """A monitor asks every few seconds; that is not worth a line each."""


def _application(look: Callable[[], Status]) -> Callable[[WSGIEnvironment, StartResponse], Iterable[bytes]]:
    registry = CollectorRegistry()
    registry.register(StatusCollector(look))
    metrics = make_wsgi_app(registry)

    def application(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == "/metrics":
            return metrics(environ, start)
        if path == "/status":
            start("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(look().as_json(), indent=1).encode()]
        start("404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"try /metrics or /status\n"]

    return application
