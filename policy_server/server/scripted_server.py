"""`python -m policy_server.server.scripted_server`: a server without a model, for rehearsals and tests of a robot."""

from __future__ import annotations

import logging
import sys
from typing import Literal

import tyro

from contract.errors import StackError
from policy_server.server.processes import serve_until_stopped
from policy_server.server.scripted_policy import Script, ScriptedPolicy, holding_rows, numbered_rows, scripted_info
from policy_server.server.settings import ServeSettings


def scripted_server(
    bind: str = "tcp://127.0.0.1:0",
    latency_ms: float = 0.0,
    load_ms: float = 0.0,
    height: int = 480,
    width: int = 640,
    rows: Literal["numbered", "holding"] = "numbered",
    stop_with_stdin: bool = False,
) -> None:
    """Serve a script.

    Args:
        bind: where to listen, loopback only.
        latency_ms: time a replan takes.
        load_ms: time until READY.
        height: of every camera.
        width: of every camera.
        rows: every channel carries the row's number, or the measured pose.
        stop_with_stdin: stop when standard input ends.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    script = Script(
        info=scripted_info(height, width),
        latency_s=latency_ms / 1e3,
        load_s=load_ms / 1e3,
        rows=numbered_rows if rows == "numbered" else holding_rows,
    )
    serve_until_stopped(lambda: ScriptedPolicy(script), ServeSettings(bind), stop_with_stdin)


def main() -> None:
    """Entry point."""
    try:
        tyro.cli(scripted_server)
    except StackError as error:
        print(error, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
