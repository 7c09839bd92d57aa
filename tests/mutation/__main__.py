"""Changes the code that must not be wrong, a little at a time, and runs its quick tests on each change.

    python -m tests.mutation [--only safety/interval.py] [--survivors] [--jobs 2] [--json out/bench/mutate.json]

A change that no test notices survives. Survivors must stand in `equivalent.toml` with the reason why they change
nothing; one that does not, or an entry that no longer survives, fails the run. Files that are done stand in the same
file; without `--only` these are run. What was found is kept, so a run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import deque
from pathlib import Path
from typing import Final

from contract.toml import read_toml
from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.record import Record
from tests.mutation.runner import Runner, Trial
from tests.mutation.targets import QUICK, ROOT

EQUIVALENT: Final = Path(__file__).with_name("equivalent.toml")
RECORDS: Final = ROOT / "out" / "mutation"


def main() -> int:
    """Exit 1 on an unlisted survivor or a listed one that is none."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", action="append", default=[], help="part of a file's path; may be given again")
    parser.add_argument("--survivors", action="store_true", help="only tests were added: run no noticed one again")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants at once")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    kept = read_toml(EQUIVALENT)
    listed = {(e["file"], e["function"], e["line"], e["change"]) for e in kept.get("survivor", [])}
    chosen = [file for file in QUICK if any(part in file for part in arguments.only)] or list(kept["done"])
    result, bad = {}, False
    for file in chosen:
        noticed, survivors = run_file(file, arguments.survivors, arguments.jobs)
        found = {(file, *m.key) for m in survivors}
        unlisted = [m for m in survivors if (file, *m.key) not in listed]
        stale = [key for key in listed if key[0] == file and key not in found]
        print(f"{file}: {noticed + len(survivors)} mutants, {noticed} noticed, {len(survivors)} survive", flush=True)
        for m in unlisted:
            print(f"  UNLISTED line {m.number} in {m.function}: {m.change}\n    {m.line}", flush=True)
        for key in stale:
            print(f"  LISTED but noticed: {key[1]}: {key[3]}\n    {key[2]}", flush=True)
        bad |= bool(unlisted or stale)
        result[file] = {
            "mutants": noticed + len(survivors),
            "noticed": noticed,
            "equivalent": len(found) - len(unlisted),
            "unlisted": len(unlisted),
        }
    if arguments.json is not None:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(result, indent=1))
    return 1 if bad else 0


def run_file(file: str, keep_noticed: bool, jobs: int) -> tuple[int, list[Mutant]]:
    """How many mutants of a file were noticed, and those that were not."""
    source = (ROOT / file).read_text()
    runner, mutants = Runner(file), list(mutants_of(source))
    record = Record(RECORDS / f"{Path(file).stem}.jsonl", [source, *runner.tests_text()], keep_noticed)
    waiting = deque(mutant for mutant in mutants if record.of(mutant) is None)
    if waiting:
        runner.calibrate(source)
    running: dict[Trial, Mutant] = {}
    begun, count = time.monotonic(), len(waiting)
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.popleft()
            running[runner.begin(mutant.source)] = mutant
        trial = runner.first_ended(list(running))
        mutant = running.pop(trial)
        record.add(mutant, trial.survived)
        done = count - len(waiting) - len(running)
        if trial.survived or done % 20 == 0:
            what = f"SURVIVES line {mutant.number}: {mutant.change}" if trial.survived else ""
            print(f"  {done}/{count} {time.monotonic() - begun:.0f} s {what}", flush=True)
    survivors = [mutant for mutant in mutants if record.of(mutant)]
    return len(mutants) - len(survivors), survivors


if __name__ == "__main__":
    sys.exit(main())
