"""`yam-robot episode replay`: one line while it runs, and what was reproduced."""

from __future__ import annotations

import numpy as np
from rich.console import Console

from contract.errors import ConfigurationError
from robot_client.demo.interrupt import Interrupt
from robot_client.episodes.outcome import Outcome
from robot_client.episodes.rig_replay import RigReplay, RigReplaySettings
from robot_client.last_words import arms_named_last


def run_rig_replay(settings: RigReplaySettings) -> int:
    """0 when the episode ran to its end or a person stopped it, 1 when something else did."""
    if not 0.0 < settings.speed <= 1.0:
        raise ConfigurationError("speed", expected="above 0, at most 1", got=settings.speed, remedy="for example 0.5")
    console = Console(markup=False)

    def say(line: str) -> None:
        console.print(line, highlight=False, soft_wrap=True)

    with Interrupt() as interrupt, arms_named_last(settings.rig, settings.station, say):
        outcome = RigReplay(settings, interrupt, say).conduct()
        for line in _lines(outcome):
            say(line)
    return 1 if outcome.stopped and not interrupt.asked else 0


def _lines(outcome: Outcome) -> list[str]:
    lines = [f"stopped: {outcome.stopped}"] if outcome.stopped else []
    if outcome.ticks:
        late_ms = np.array(outcome.lateness_ns) / 1e6
        lines += [
            f"replayed {outcome.seconds:.2f} s of {outcome.expected_s:.2f} s in {outcome.ticks} ticks",
            f"told then and told now differ by at most {outcome.off:.2e} rad",
            f"late p50 {np.percentile(late_ms, 50):.2f} ms, p99 {np.percentile(late_ms, 99):.2f} ms, "
            f"max {late_ms.max():.2f} ms; {outcome.skipped} periods skipped",
        ]
    if outcome.last is not None:
        lines.append(f"arms: {outcome.last.mode}: {outcome.last.reason}")
    return lines
