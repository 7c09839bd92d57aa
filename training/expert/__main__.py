"""`python -m training.expert`: how often the scripted expert succeeds, over seeded layouts of all pairs."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import tyro

from contract.errors import ConfigurationError, StackError
from robot_client.twin import gl
from robot_client.twin.tasks import TASKS

_REPORT_EVERY = 50


@dataclass(frozen=True)
class Arguments:
    """Let the expert do seeded layouts, each pair in turn, and print what came of it as JSON."""

    layouts: int = 100
    """How many."""
    first_seed: int = 0
    """Seed of the first."""
    noise_rad: float = 0.0
    """Standard deviation of the noise on executed joint targets."""


def main() -> int:
    """Entry point; 0 when at least 99 of 100 layouts were solved."""
    arguments = tyro.cli(Arguments, prog="python -m training.expert")
    try:
        if arguments.layouts < 1:
            raise ConfigurationError("layouts", expected="at least 1", got=arguments.layouts)
        gl.choose()
        report = measure(arguments)
    except StackError as error:
        print(f"expert: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report, indent=1))
    return 0 if report["success_rate"] >= 0.99 else 1


def measure(arguments: Arguments) -> dict[str, Any]:
    """Success rate in all and by pair, length, tries and the seeds that failed."""
    from robot_client.twin.twin import make_twin
    from training.expert.rollout import run_episode

    twin, episodes = make_twin(), []
    for i in range(arguments.layouts):
        episodes.append(run_episode(twin, arguments.first_seed + i, TASKS[i % len(TASKS)], arguments.noise_rad))
        if len(episodes) % _REPORT_EVERY == 0:
            done = sum(episode.success for episode in episodes)
            print(f"{len(episodes)} of {arguments.layouts}, {done} solved", file=sys.stderr)
    phases = Counter(phase for episode in episodes for phase in episode.phases)
    return {
        "layouts": len(episodes),
        "noise_rad": arguments.noise_rad,
        "success_rate": sum(episode.success for episode in episodes) / len(episodes),
        "mean_rows": sum(episode.rows for episode in episodes) / len(episodes),
        "more_than_one_try": sum(episode.tries > 1 for episode in episodes),
        "failed": [[e.seed, e.task.instruction, e.misplaced or ""] for e in episodes if not e.success],
        "share_of_phase": {name: count / phases.total() for name, count in phases.most_common()},
    }


if __name__ == "__main__":
    sys.exit(main())
