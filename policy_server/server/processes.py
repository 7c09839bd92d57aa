"""Running a server as a process: banner lines for a supervisor, signals, and the end of the parent."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

from contract.errors import StackError
from contract.server_info import ServerInfo
from policy_server.server.served_policy import PolicyLoader
from policy_server.server.service import PolicyServer, open_server
from policy_server.server.settings import ServeSettings

READY_PREFIX = "READY "
"""A supervisor waits for the line `READY tcp://HOST:PORT` on standard output; `LOADING ...` comes first."""


def serve_until_stopped(
    load: PolicyLoader,
    settings: ServeSettings,
    stop_with_stdin: bool,
    on_ready: Callable[[ServerInfo], None] = lambda info: None,
) -> None:
    """Serve until SIGINT, SIGTERM or, if asked for, the end of standard input (the supervisor is gone).

    Prints `LOADING endpoint`, then `READY endpoint`. Raises what stopped the server. When an engine call still runs at
    the end its thread cannot be ended, so the process leaves without the interpreter's own shutdown.
    """
    stop = threading.Event()
    server = open_server(load, settings)
    endpoint = server.endpoint
    _stop_on_signals(server, stop)
    if stop_with_stdin:
        threading.Thread(target=_watch_stdin, args=(stop,), name="parent", daemon=True).start()
    if server.pages is not None:
        print(f"pages        http://{server.pages.address}/metrics and /status", file=sys.stderr, flush=True)
    print(f"LOADING {endpoint}", flush=True)
    try:
        while not stop.is_set() and server.state == "LOADING":
            server.turn()
        if not stop.is_set():
            on_ready(server.info())
            gc.collect()
            gc.freeze()  # what loading made stays for good; looking through it again and again costs milliseconds
            print(f"{READY_PREFIX}{endpoint}", flush=True)
        while not stop.is_set():
            server.turn()
    except StackError as error:
        _leave(server, error)
        raise
    _leave(server, None)


def _stop_on_signals(server: PolicyServer, stop: threading.Event) -> None:
    def handler(signum: int, frame: FrameType | None) -> None:
        stop.set()

    signal.set_wakeup_fd(server.wakeup_descriptor, warn_on_full_buffer=False)
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, handler)


def _watch_stdin(stop: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    stop.set()


def _leave(server: PolicyServer, error: StackError | None) -> None:
    signal.set_wakeup_fd(-1)
    loading = server.state == "LOADING"
    if server.close():
        return
    behind = "while the policy was loading" if loading else "and left an engine call behind"
    print(f"{error or 'stopped'} {behind}", file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(1 if error else 0)
