"""The first line of `yam-policy` that runs: a person may stop it while Python still loads the rest."""

from __future__ import annotations

import sys


def main() -> None:
    """`policy_server.cli.main`; Ctrl-C during its imports is a stop like any other, not a traceback."""
    try:
        from policy_server.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(0)
