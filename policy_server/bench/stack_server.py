"""`python -m policy_server.bench.stack_server`: the whole server on an engine that takes no time.

Everything but the engine is real: socket, desk, inference thread, canvas, noise, flow, TR and guidance.
"""

from __future__ import annotations

import sys

import tyro

from contract.errors import StackError
from contract.heap import keep_freed_memory
from policy_server.engines.scripted_manifest import scripted_manifest, three_views
from policy_server.engines.scripted_policy import scripted_engine
from policy_server.policy import Policy
from policy_server.server.processes import serve_until_stopped
from policy_server.server.settings import ServeSettings


def stack_server(height: int = 480, width: int = 640) -> None:
    """Serve a scripted engine until standard input ends.

    Args:
        height: of every camera.
        width: of every camera.
    """
    keep_freed_memory()
    manifest = scripted_manifest(three_views(height, width))
    policy = Policy(manifest, scripted_engine(manifest))
    serve_until_stopped(lambda: policy, ServeSettings("tcp://127.0.0.1:0"), stop_with_stdin=True)


def main() -> None:
    """Entry point."""
    try:
        tyro.cli(stack_server)
    except StackError as error:
        print(error, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
