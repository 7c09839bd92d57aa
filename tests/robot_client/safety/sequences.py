"""Random sequences of asked targets through safety, many pairs of arms at once; prints each limit's largest excess.

    python -m tests.robot_client.safety.sequences --count 100000

A sequence is `LENGTH` ticks of one kind of asking; it begins in whatever motion the one before it left the arms.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import JOINT_MASK, per_arm
from contract.station import load_station
from robot_client.safety.clearance import poses_of
from robot_client.safety.limiter import brake, limit
from robot_client.safety.limits import Clip, Limits, Told, Verdict, limits_of, seeded
from robot_client.safety.segments import between

Array = NDArray[np.float64]

LENGTH: Final = 20
ROWS: Final = 500
JERK_RAD_S3: Final = 400.0
_ROUNDING: Final = 1e-9


@dataclass
class Excess:
    """How far each limit was exceeded at most (negative: how near it was come to), and what was seen."""

    worst: dict[str, float] = field(default_factory=dict)
    steps: int = 0
    sequences: int = 0
    clipped: dict[str, int] = field(default_factory=dict)
    travel_rad: float = 0.0

    def see(self, name: str, excess: Array) -> None:
        """Excess over a limit, in its unit."""
        self.worst[name] = max(self.worst.get(name, -np.inf), float(np.max(excess, initial=-np.inf)))

    @property
    def violations(self) -> dict[str, float]:
        """Limits exceeded by more than rounding."""
        return {name: worst for name, worst in self.worst.items() if worst > _ROUNDING}


def heights(limits: Limits, targets: Array) -> dict[str, Array]:
    """Per row the least height (N,) [m] over the box's sides, the table's levels, and the distances to be kept."""
    space, poses = limits.space, poses_of(limits.space, targets[:, None])
    tools, ends = poses.tools[:, 0], poses.ends[:, 0]
    count = len(space.link)
    box = np.minimum(tools - space.lower_m, space.upper_m - tools).min(axis=(1, 2))
    low = ends[:, : 2 * count].reshape(len(targets), 2, count, 2, 3)[:, :, space.above_table] @ space.normal
    table = np.minimum(
        (low.min(axis=-1) - space.arm_level_m).min(axis=(1, 2)), (tools @ space.normal).min(axis=1) - space.tool_level_m
    )
    middle = ends.mean(axis=2)
    apart = np.linalg.norm(middle[:, space.first] - middle[:, space.second], axis=-1) - space.reach_m
    distance = apart.min(axis=1)
    row, pair = np.nonzero(apart < np.maximum(distance, 0.02)[:, None])
    ways = between(ends[row, space.first[pair]], ends[row, space.second[pair]])
    exact = np.full(len(targets), np.inf)
    np.minimum.at(exact, row, np.linalg.norm(ways, axis=-1) - space.keep_m[pair])
    return {"box_m": box, "table_m": table, "distance_m": exact}


def safe_poses(limits: Limits, random: np.random.Generator, count: int) -> Array:
    """(count, 14) within all limits, drawn evenly among joint angles."""
    found: list[Array] = []
    while sum(map(len, found)) < count:
        drawn = random.uniform(limits.lower, limits.upper, (1000, 14))
        found.append(drawn[np.min(list(heights(limits, drawn).values()), axis=0) > 0.0])
    return np.concatenate(found)[:count]


def asked_targets(limits: Limits, pool: Array, told: Told, random: np.random.Generator) -> Iterator[Array]:
    """(N, 14) targets, tick by tick, of one sequence per row; each row draws how it asks."""
    count = len(told.position)
    kind = random.integers(0, 8, (count, 1))
    start, goal = told.position, pool[random.integers(0, len(pool), count)]
    wild = random.uniform(limits.lower - 0.5, limits.upper + 0.5, (count, 14))
    bound = np.where(random.random((count, 14)) < 0.5, limits.lower, limits.upper)
    stride = limits.speed * limits.period_s * random.choice([-1.0, 1.0], (count, 14))
    one_arm = per_arm(random.random((count, 2)) < 0.5)
    walk = start.copy()
    for tick in range(1, LENGTH + 1):
        walk = walk + random.normal(0.0, 0.01, walk.shape)
        again = pool[random.integers(0, len(pool), count)]
        yield np.select(
            [kind == i for i in range(8)],
            [
                goal,
                start + (goal - start) * tick / LENGTH,
                wild,
                again,
                walk,
                np.where(JOINT_MASK, bound, goal),
                start + stride * tick,
                np.where(one_arm, goal, start),
            ],
        )


def check(before: Told, verdict: Verdict, measured: Array | None, limits: Limits, seen: Excess) -> None:
    """Adds one step of many pairs of arms."""
    after, clips = verdict.told, verdict.clips
    gave_way = (clips & int(Clip.EMPTY)) > 0
    change = after.velocity - before.velocity
    seen.see("speed_rad_s", np.abs(after.velocity) - limits.speed)
    seen.see("told_speed_rad_s", np.abs(after.position - before.position) / limits.period_s - limits.speed)
    seen.see("acceleration_rad_s2", (np.abs(change) - limits.acceleration * limits.period_s) / limits.period_s - 1e-7)
    seen.see("position_rad", np.maximum(after.position - limits.upper, limits.lower - after.position))
    if measured is not None:
        lead = np.abs(after.position - measured) - limits.lead - 1e-7
        seen.see("lead_rad", np.where(gave_way, -np.inf, lead))
    if limits.jerk is not None:
        was = np.zeros(change.shape) + before.acceleration
        jerk = np.abs(change / limits.period_s - was) / limits.period_s / limits.jerk - 1.0 - 1e-6
        seen.see("jerk_share", np.where(gave_way | ~JOINT_MASK, -np.inf, jerk))
    tools = poses_of(limits.space, np.stack([before.position, after.position], axis=1)).tools
    way = np.linalg.norm(tools[:, 1] - tools[:, 0], axis=-1)
    seen.see("tool_speed_m_s", way / limits.period_s - limits.tool_speed_m_s)
    for name, height in heights(limits, after.position).items():
        seen.see(name, -height)
    seen.travel_rad += float(np.abs(after.position - before.position).sum())
    seen.steps += len(after.position)
    for reason in Clip:
        seen.clipped[str(reason.name)] = seen.clipped.get(str(reason.name), 0) + int(
            (clips & reason > 0).any(axis=1).sum()
        )


def run(limits: Limits, count: int, seed: int, rows: int = ROWS) -> Excess:
    """`count` sequences, `rows` at a time."""
    random, seen = np.random.default_rng(seed), Excess()
    pool = safe_poses(limits, random, 2000)
    told = seeded(pool[random.integers(0, len(pool), rows)])
    while seen.sequences < count:
        # Up to the whole lead, so that this limit is reached.
        stray = random.uniform(-1.0, 1.0, told.position.shape) * limits.lead * (random.random((rows, 1)) < 0.2)
        brakes = random.random() < 0.1
        for asked in asked_targets(limits, pool, told, random):
            measured = told.position + stray
            verdict = brake(told, limits) if brakes else limit(told, asked, measured, limits)
            check(told, verdict, None if brakes else measured, limits, seen)
            told = verdict.told
        seen.sequences += rows
        # Some start anew, at rest elsewhere: otherwise rows that came to a corner would stay there.
        fresh = np.nonzero(random.random(rows) < 0.02)[0]
        acceleration = np.zeros(told.position.shape) + told.acceleration
        for array, value in ((told.position, pool[random.integers(0, len(pool), len(fresh))]), (told.velocity, 0.0)):
            array[fresh] = value
        acceleration[fresh] = 0.0
        told = Told(told.position, told.velocity, told.position.copy(), acceleration)
    return seen


def variants() -> dict[str, Limits]:
    """What is tried: the twin, the example of real arms, and both with a limit of jerk."""
    found = {}
    for name in ("twin", "yam_example"):
        station = load_station(name)
        limits = limits_of(station.safety, 1.0 / station.timing.loop_hz)
        jerk = np.where(JOINT_MASK, JERK_RAD_S3, 1e12)
        found[name] = limits
        found[f"{name}_jerk"] = replace(limits, jerk=jerk)
    return found


def concluded(found: Mapping[str, Excess], path: Path | None) -> int:
    """Writes what was seen of each variant, where there is to be a file; 1 when a limit was exceeded, else 0."""
    if path is not None:
        shown = ("sequences", "steps", "worst", "clipped")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            json.dumps({k: {name: getattr(seen, name) for name in shown} for k, seen in found.items()}, indent=1)
        )
    return int(any(seen.violations for seen in found.values()))


def main() -> int:
    """Prints a table; exit 1 when a limit was exceeded."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found: dict[str, Excess] = {}
    for i, (name, limits) in enumerate(variants().items()):
        begun = time.monotonic()
        seen = run(limits, arguments.count // len(variants()), arguments.seed + i)
        print(f"{name}: {seen.sequences} sequences, {seen.steps} steps, {time.monotonic() - begun:.0f} s")
        for limit_name, worst in seen.worst.items():
            print(f"  {limit_name:22} largest excess {worst:+.3e}{'  VIOLATED' if worst > _ROUNDING else ''}")
        print("  clipped in steps:", ", ".join(f"{k} {v}" for k, v in seen.clipped.items()), flush=True)
        found[name] = seen
    return concluded(found, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
