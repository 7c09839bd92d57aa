"""`python -m tests.fuzz`: mutants at both ends of the wire; exit 1 when either stops answering."""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path

import tyro

from tests.fuzz.client_side import fuzz_client
from tests.fuzz.server_side import fuzz_server

MIB = 1024


def fuzz(messages: int = 100_000, seed: int = 0, json_path: Path = Path("out/bench/fuzz.json")) -> None:
    """Send mutants to a server and to a robot's link.

    Args:
        messages: to each side.
        seed: of the mutants; the same seed gives the same ones.
        json_path: file for the counts.
    """
    result = {"messages": messages, "seed": seed}
    for name, run in (("server", fuzz_server), ("client", fuzz_client)):
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
        outcome = run(messages, seed)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / MIB
        facts = {
            **vars(outcome),
            "seconds": round(time.monotonic() - start, 1),
            "peak_memory_grew_mib": round(grown, 1),
        }
        print(f"{name}: {json.dumps(facts)}", flush=True)
        result[name] = facts  # type: ignore[assignment]
    json_path.parent.mkdir(parents=True, exist_ok=True)
    json_path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    tyro.cli(fuzz)
