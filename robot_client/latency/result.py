"""What a latency bench says: out/bench/latency.json."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from robot_client.latency.crossing import Crossing
from robot_client.latency.figures import Figures, figures_ms
from robot_client.latency.observed import Observed
from robot_client.latency.stages import STAGES

SUM_TARGET_MS: Final = 2.0
NOT_COMPARED: Final = "not measured in this run: give --openpi"


def result_of(observed: Observed, budget_ns: int, warm_up: int) -> dict[str, Any]:
    """All figures of one run, in ms unless the name says otherwise. The first `warm_up` replans are apart."""
    crossings = observed.crossings()
    cold, warm = crossings[:warm_up], crossings[warm_up:]
    return {
        "end_to_end_ms": figures_ms(_whole(warm)),
        "stages_ms": _stages(warm),
        "underruns": observed.counters.get("ticks_without_plan", 0),
        "openpi_over_ours_p50": None,
        "openpi_reason": NOT_COMPARED,
        "stage_sum": _stage_sum(warm),
        "to_command_ms": figures_ms([crossing.to_command_ns for crossing in warm]),
        "from_rest": _from_rest(warm),
        "measured_behind_told_ms": observed.lag_ms(),
        "round_trip_ms": figures_ms([record.client_ns["round_trip"] for record in _timed(observed)[warm_up:]]),
        "warm_up": _warm_up(cold, observed, warm_up),
        "counts": _counts(observed, warm, budget_ns),
        "failures": _failures(observed),
        "chunk_age_ms": figures_ms(observed.ages_ms() * 1e6),
        "replan_rate_hz": _rate_hz(observed),
        "definitions": dict(STAGES),
        "runs_on": _runs_on(observed),
        "machine": machine(),
    }


def machine() -> dict[str, Any]:
    """Where it was measured, and how busy it was."""
    return {
        "cpus": os.cpu_count(),
        "load_1min": round(os.getloadavg()[0], 2),
        "platform": platform.platform(),
        "python": platform.python_version(),
    }


def _whole(crossings: Sequence[Crossing]) -> list[int]:
    return [crossing.end_to_end_ns for crossing in crossings if crossing.end_to_end_ns is not None]


def _stages(crossings: Sequence[Crossing]) -> dict[str, Figures | None]:
    return {
        stage: figures_ms([c.stages_ns[stage] for c in crossings if stage in c.stages_ns])
        for stage in STAGES
        if any(stage in c.stages_ns for c in crossings) or not crossings
    }


def _stage_sum(crossings: Sequence[Crossing]) -> dict[str, Any]:
    """Each crossing's whole less the sum of its own stages: what no stage accounts for."""
    left = np.array([crossing.left_over_ns for crossing in crossings if crossing.left_over_ns is not None])
    beyond = int((np.abs(left) > SUM_TARGET_MS * 1e6).sum())
    return {
        "target_ms": SUM_TARGET_MS,
        "left_over_ms": figures_ms(np.abs(left)),
        "beyond_target": beyond,
        "negative_stages": sum(ns < 0 for crossing in crossings for ns in crossing.stages_ns.values()),
        "met": beyond == 0 if len(left) else None,
    }


def _from_rest(crossings: Sequence[Crossing]) -> dict[str, Any]:
    """Only what found the arms standing: there the first movement is this chunk's own."""
    still = [crossing for crossing in crossings if crossing.from_rest]
    motor = [crossing.stages_ns["motor"] for crossing in still if "motor" in crossing.stages_ns]
    return {"end_to_end_ms": figures_ms(_whole(still)), "motor_ms": figures_ms(motor)}


def _warm_up(cold: Sequence[Crossing], observed: Observed, warm_up: int) -> dict[str, Any]:
    trips = [record.client_ns["round_trip"] / 1e6 for record in _timed(observed)[:warm_up]]
    return {
        "replans": len(cold),
        "end_to_end_ms": [round(ns / 1e6, 3) for ns in _whole(cold)],
        "round_trip_ms": [round(ms, 3) for ms in trips],
    }


def _counts(observed: Observed, warm: Sequence[Crossing], budget_ns: int) -> dict[str, int | None]:
    counters = observed.counters
    trips = [record.answered_ns - record.sent_ns for record in observed.replans]
    return {
        "crossings": len(warm),
        "without_movement": sum(crossing.end_to_end_ns is None for crossing in warm),
        "transport_not_seen": sum(not crossing.transport_seen for crossing in warm) if observed.arrivals else None,
        "replans_answered": len(observed.replans),
        "replans_failed": len(observed.failures),
        "answers_over_budget": sum(trip > budget_ns for trip in trips),
        "chunks_entered_late": counters.get("entered_late", 0),
        "loop_periods_skipped": counters.get("periods_skipped", 0),
        "starts_from_rest": observed.starts,
        "stopped_by_itself": len(observed.stops),
    }


def _failures(observed: Observed) -> dict[str, dict[str, Any]]:
    """Code of the error -> how often, and the first in words. While something lasts, the loop asks ten times a second,
    so one camera that stands still for a second is ten failures."""
    found: dict[str, dict[str, Any]] = {}
    for failure in observed.failures:
        entry = found.setdefault(failure.code, {"count": 0, "first": failure.text})
        entry["count"] += 1
    return found


def _rate_hz(observed: Observed) -> float | None:
    """Answered replans per second while the policy had the arms: one over the median gap between two of one epoch."""
    pairs = zip(observed.replans, observed.replans[1:], strict=False)
    gaps = [later.asked_ns - earlier.asked_ns for earlier, later in pairs if later.epoch == earlier.epoch]
    return round(1e9 / float(np.median(gaps)), 3) if gaps else None


def _runs_on(observed: Observed) -> Mapping[str, Any]:
    info = observed.info
    if info is None:
        return {"policy": None, "gpu": None}
    gpu = any(word in info.runs_on.lower() for word in ("cuda", "gpu", "nvidia"))
    return {
        "policy": info.model_id,
        "engine": info.engine_id,
        "device": info.runs_on,
        "gpu": gpu,
        "note": "" if gpu else "no GPU took part in this run",
        "rights": dict(observed.notes),
    }


def _timed(observed: Observed) -> list[Any]:
    return [record for record in observed.replans if record.client_ns]
