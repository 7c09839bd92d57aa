"""Replan times of a bundle by branches: `python -m policy_server.bench.replan BUNDLE --json FILE`."""

from __future__ import annotations

import json as json_module
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import tyro

from contract.types import GuidanceScales
from policy_server.percentiles import percentiles
from policy_server.policy import Policy
from policy_server.warm_up import SETS, neutral_observation

Stages = Mapping[str, int]


def bench_replan(
    bundle: Annotated[Path, tyro.conf.Positional],
    engine: Literal["onnxruntime", "torch"] = "onnxruntime",
    threads: int = 1,
    rounds: int = 200,
    json: Path = Path("out/bench/replan.json"),
) -> dict[str, Any]:
    """Time replans of a bundle with 1, 2 and 3 branches, taken in turn.

    Args:
        bundle: folder with policy.toml.
        engine: what computes.
        threads: threads within one operator; 0 = the library's choice.
        rounds: replans of each kind, after a warm-up that is reported by itself.
        json: file for the results.
    """
    start = time.perf_counter()
    policy = Policy.load(bundle, engine, threads)
    loaded = time.perf_counter()
    policy.warm_up()
    warm = time.perf_counter()
    results = {
        "model_id": policy.manifest.model_id,
        "engine_id": policy.engine.id,
        "runs_on": policy.engine.runs_on,
        "load_ms": 1e3 * (loaded - start),
        "warm_up_ms": 1e3 * (warm - loaded),
        "replans": measure(policy, rounds),
        "budget": within_budget(policy, rounds),
    }
    policy.close()
    json.parent.mkdir(parents=True, exist_ok=True)
    json.write_text(json_module.dumps(results, indent=2) + "\n", encoding="utf-8")
    print("\n".join(table(results)))
    return results


def measure(policy: Policy, rounds: int) -> dict[str, dict[str, Any]]:
    """Branches run -> times in ms; the kinds take turns, so that a slow moment of the machine meets all of them."""
    question = neutral_observation(policy.manifest)
    scales = (GuidanceScales(0.0, 0.0), *(scales for _, scales in SETS))
    spent: dict[str, list[Stages]] = {}
    for round_number in range(rounds):
        for one in scales:
            chunk = policy.replan_forced(replace(question, seed=round_number), one)
            spent.setdefault("+".join(chunk.branches_run), []).append(chunk.durations_ns)
    return {branches: summary(stages) for branches, stages in spent.items()}


def within_budget(policy: Policy, rounds: int) -> dict[str, Any]:
    """Replans that want every branch but have time for the cheaper half: how long they take, and what is dropped.

    The budget lies half way between the measured times with one and with three branches, on the clock that the server
    counts from receipt.
    """
    costs = policy.info("READY").costs_ns
    budget_ns = (costs["branches_1"] + costs["branches_3"]) // 2
    question = replace(neutral_observation(policy.manifest), guidance="constant", budget_ns=budget_ns)
    spent_ns, dropped = [], 0
    for round_number in range(rounds):
        start_ns = time.monotonic_ns()
        chunk = policy.replan(
            replace(question, seed=round_number),
            lambda start=start_ns: time.monotonic_ns() - start,  # type: ignore[misc]
        )
        spent_ns.append(time.monotonic_ns() - start_ns)
        dropped += bool(chunk.branches_dropped)
    total = np.array(spent_ns) / 1e6
    return {
        "budget_ms": budget_ns / 1e6,
        "total_ms": with_largest(total),
        "dropped_a_branch": dropped / rounds,
        "within": float(np.mean(total <= budget_ns / 1e6)),
    }


def summary(spent: Sequence[Stages]) -> dict[str, Any]:
    """Percentiles of the whole and of the part outside the engine ("stack"), medians of the stages; ms."""
    total = np.array([stages["total"] for stages in spent]) / 1e6
    stack = total - np.array([stages["engine"] for stages in spent]) / 1e6
    return {
        "count": len(spent),
        "total_ms": with_largest(total),
        "stack_ms": with_largest(stack),
        "stages_ms": {name: float(np.median([stages[name] for stages in spent])) / 1e6 for name in spent[0]},
    }


def with_largest(values_ms: np.ndarray) -> dict[str, float]:
    """p50, p95, p99 and the largest, which no mean may hide (B16)."""
    return {**percentiles(values_ms), "max": float(np.max(values_ms))}


def table(results: Mapping[str, Any]) -> list[str]:
    """What a person reads."""
    head = f"{results['model_id']} on {results['runs_on']}"
    warm = f"load {results['load_ms']:.0f} ms, warm-up {results['warm_up_ms']:.0f} ms (not counted below)"
    rows = [
        f"{branches:20} "
        + " ".join(f"{name} {one['total_ms'][name]:7.2f}" for name in ("p50", "p95", "p99", "max"))
        + f"   outside the engine p50 {one['stack_ms']['p50']:.2f}"
        for branches, one in results["replans"].items()
    ]
    budget = results["budget"]
    said = (
        f"with a budget of {budget['budget_ms']:.1f} ms: p99 {budget['total_ms']['p99']:.1f} ms, "
        f"{budget['within']:.1%} within, {budget['dropped_a_branch']:.0%} dropped a branch"
    )
    return [head, warm, "replan times in ms", *rows, said]


if __name__ == "__main__":
    tyro.cli(bench_replan)
