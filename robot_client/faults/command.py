"""`yam-robot faults`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro


def faults(
    which: Annotated[tuple[str, ...], tyro.conf.Positional] = (),
    rounds: int = 50,
    json: Path = Path("out/bench/faults.json"),
) -> None:
    """Rehearse faults of server, client and link on real processes and the ideal rig; exit code 1 if one does harm.

    Args:
        which: faults or places, for example kill, link or "kill server"; without any, all of them.
        rounds: of each.
        json: file for the results.
    """
    from robot_client.faults.matrix import HEADER, chosen, failures, run_matrix

    print(HEADER, flush=True)
    result = run_matrix(json, rounds, chosen(which), lambda line: print(line, flush=True))
    wrong = failures(result)
    for line in wrong:
        print(f"yam-robot: {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)
