"""Random sequences through the limits of single channels, thousands of pairs of arms at once, without the guard.

    python -m tests.robot_client.safety.channel_sequences --count 1008000

Each sequence is `LENGTH` ticks and begins in a random motion: anywhere within the position limits, at any speed that
can still be stopped there. A third of the channels are held back: the measured position stays where it is, near the
lead, so that the lead is really reached. The guard is in `sequences`, which costs three hundred times as much.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from contract.layout import JOINT_MASK
from robot_client.safety.interval import Array, braking_interval
from robot_client.safety.limiter import brake, limit
from robot_client.safety.limits import Clip, Limits, Told, Verdict
from robot_client.safety.space import FREE
from tests.robot_client.safety.sequences import LENGTH, Excess, concluded, variants

ROWS: Final = 4000
_SLACK: Final = 1e-7
"""[rad] A told position and a measured one are apart by the rounding of speed times period."""


def moving(limits: Limits, random: np.random.Generator, rows: int) -> Told:
    """Random positions and speeds that can still be stopped within the position limits."""
    position = random.uniform(limits.lower, limits.upper, (rows, 14))
    within = braking_interval(Told(position, position, position), limits)
    speed = random.uniform(np.maximum(within.low, -limits.speed), np.minimum(within.high, limits.speed))
    speed *= random.random((rows, 1)) < 0.8
    return Told(position, speed, position.copy(), np.zeros_like(position))


def check(before: Told, verdict: Verdict, measured: Array | None, limits: Limits, seen: Excess) -> None:
    """Adds one step."""
    after, gave_way = verdict.told, (verdict.clips & int(Clip.EMPTY)) > 0
    change = (after.velocity - before.velocity) / limits.period_s
    ahead = np.where(after.velocity > 0.0, limits.upper - after.position, after.position - limits.lower)
    seen.see("speed_rad_s", np.abs(after.velocity) - limits.speed)
    seen.see("acceleration_rad_s2", np.abs(change) - limits.acceleration - _SLACK)
    seen.see("position_rad", np.maximum(after.position - limits.upper, limits.lower - after.position))
    seen.see("braking_distance_rad", after.velocity**2 / (2.0 * limits.acceleration) - ahead - _SLACK)
    if measured is not None:
        lead = np.where(gave_way, -np.inf, np.abs(after.position - measured) - limits.lead)
        seen.see("lead_rad", lead - _SLACK)
        reached = ((verdict.clips & int(Clip.LEAD)) > 0) & (np.abs(lead) < _SLACK)
        seen.clipped["LEAD reached"] = seen.clipped.get("LEAD reached", 0) + int(reached.any(axis=1).sum())
    if limits.jerk is not None:
        jerk = np.abs(change - before.acceleration) / limits.period_s / limits.jerk - 1.0 - 1e-6
        seen.see("jerk_share", np.where(gave_way | ~JOINT_MASK, -np.inf, jerk))
    seen.steps += len(after.position)


def run(limits: Limits, count: int, seed: int, rows: int = ROWS, until_s: float = float("inf")) -> Excess:
    """`count` sequences, or as many as begin before the monotonic clock reads `until_s`."""
    limits = replace(limits, space=FREE, tool_speed_m_s=float("inf"))
    random, seen = np.random.default_rng(seed), Excess()
    while seen.sequences < count and time.monotonic() < until_s:
        told = moving(limits, random, rows)
        held = random.random((rows, 14)) < 0.33
        share = random.choice([-1.0, 1.0], (rows, 14)) * random.uniform(0.8, 1.0, (rows, 14))
        stood = told.position + share * limits.lead
        goal = random.uniform(limits.lower - 0.5, limits.upper + 0.5, (rows, 14))
        jumps, brakes = random.random() < 0.5, random.random() < 0.1
        for _ in range(LENGTH):
            if jumps:
                goal = random.uniform(limits.lower - 0.5, limits.upper + 0.5, (rows, 14))
            measured = np.where(held, stood, told.position)
            verdict = brake(told, limits) if brakes else limit(told, goal, measured, limits)
            check(told, verdict, None if brakes else measured, limits, seen)
            told = verdict.told
        seen.sequences += rows
    return seen


def main() -> int:
    """Prints a table; exit 1 when a limit was exceeded."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1_008_000)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found: dict[str, Excess] = {}
    begun = time.monotonic()
    for i, (name, limits) in enumerate(variants().items()):
        until_s = begun + arguments.seconds * (i + 1) / len(variants())
        seen = run(limits, arguments.count // len(variants()), arguments.seed + i, until_s=until_s)
        print(f"{name}: {seen.sequences} sequences, {seen.steps} steps, {seen.clipped}")
        for limit_name, worst in seen.worst.items():
            print(f"  {limit_name:22} largest excess {worst:+.3e}", flush=True)
        found[name] = seen
    return concluded(found, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
