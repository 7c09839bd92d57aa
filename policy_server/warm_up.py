"""Warm-up: every path that a replan can take, run and timed before the first client is answered."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

import numpy as np

from contract.layout import SIZE
from contract.manifest import BundleManifest
from contract.types import ActionChunk, GuidanceScales, Observation
from policy_server.budget import BranchCosts, Extras

SETS: tuple[tuple[Extras, GuidanceScales], ...] = (
    (("nolang",), GuidanceScales(1.0, 0.0)),
    (("noplan",), GuidanceScales(0.0, 1.0)),
    (("nolang", "noplan"), GuidanceScales(1.0, 1.0)),
)
"""Every set of branches beyond the conditional one, and scales that make it run."""

Forced = Callable[[Observation, GuidanceScales], ActionChunk]


def measure_costs(manifest: BundleManifest, replan: Forced, rounds: int) -> BranchCosts:
    """Largest of `rounds` answers for each set of branches, after one of each that does not count (B16).

    The largest and not the median: a budget is a promise, and half of all answers take longer than the median.
    """
    observation = neutral_observation(manifest)
    first = _durations(observation, replan, GuidanceScales(0.0, 0.0), rounds)
    first_ns = _largest(first, "total")
    extra_ns = {
        extras: max(0, _largest(_durations(observation, replan, scales, rounds), "total") - first_ns)
        for extras, scales in SETS
    }
    after = first_ns - _before_reading(first, manifest) if manifest.head.masses_from == "context" else 0
    return BranchCosts(first_ns, after, extra_ns)


def neutral_observation(manifest: BundleManifest) -> Observation:
    """Black views, the mean state, no prefix, the first word of the vocabulary."""
    images = {v.role: np.zeros((v.height, v.width, 3), np.uint8) for v in manifest.canvas.views}
    return Observation(
        session="warm-up",
        epoch=0,
        sequence=0,
        stamp_ns=0,
        joints=np.array(manifest.state.offset, np.float32),
        joints_stamp_ns=0,
        images=images,
        image_stamps_ns=dict.fromkeys(images, 0),
        instruction=manifest.text.vocabulary[0] if manifest.text.vocabulary else "",
        seed=0,
        first_row=0,
        prefix=np.zeros((0, SIZE), np.float32),
        budget_ns=0,
    )


def _durations(observation: Observation, replan: Forced, scales: GuidanceScales, rounds: int) -> list[dict[str, int]]:
    return [dict(replan(observation, scales).durations_ns) for _ in range(1 + rounds)][1:]


def _largest(durations: Sequence[dict[str, int]], key: str) -> int:
    return max(entry[key] for entry in durations)


def _median(durations: Sequence[dict[str, int]], key: str) -> int:
    return int(statistics.median(entry[key] for entry in durations))


def _before_reading(durations: Sequence[dict[str, int]], manifest: BundleManifest) -> int:
    """Time up to the reading of a head that reads once: everything but its flow and the finish."""
    return sum(_median(durations, stage) for stage in ("text", "canvas", "encode", "prepare", "video", "context"))
