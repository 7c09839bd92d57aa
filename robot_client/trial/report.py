"""`yam-robot trial report`: opens the seal and says what the runs showed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from contract.types import GuidanceMode
from robot_client.trial.errors import TrialError
from robot_client.trial.evidence import Evidence, evidence_of
from robot_client.trial.opened import mark_opened
from robot_client.trial.outcome import outcomes_in
from robot_client.trial.plan import Trial, read_trial
from robot_client.trial.rate import paired, wilson

NAME: Final = "report.json"


def report_of(folder: Path, unfinished: bool = False) -> dict[str, Any]:
    """All figures of a trial, also written to report.json in its folder.

    Raises `TrialError` while runs are missing, unless `unfinished`, which ends the trial; and for runs that do not
    belong together.
    """
    trial = read_trial(folder)
    outcomes = outcomes_in(folder, trial.id)
    _require_known(outcomes.keys(), trial)
    missing = len(trial.runs()) - len(outcomes)
    if missing and not unfinished:
        raise TrialError(
            f"{folder}", expected="all runs done", got=f"{missing} of {len(trial.runs())} missing",
            remedy="go on with it, or give --unfinished, which ends it",
        )  # fmt: skip
    evidence = [evidence_of(episode, outcome, trial) for episode, outcome in outcomes.values()]
    if missing:
        mark_opened(folder)
    result = _result(trial, evidence, missing)
    (folder / NAME).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result


def _require_known(numbers: Any, trial: Trial) -> None:
    unknown = sorted(set(numbers) - {run.number for run in trial.runs()})
    if unknown:
        raise TrialError("runs", expected=f"0..{len(trial.runs()) - 1}", got=unknown)


def _result(trial: Trial, evidence: Sequence[Evidence], missing: int) -> dict[str, Any]:
    methods = trial.question.methods
    reference: GuidanceMode = "off" if "off" in methods else methods[0]
    return {
        "trial": trial.id,
        "question": trial.question.model_dump(mode="json"),
        "identity": trial.identity.model_dump(),
        "runs": len(evidence),
        "runs_missing": missing,
        "bags_incomplete": sum(not entry.outcome.complete for entry in evidence),
        "methods": {method: _method([e for e in evidence if e.run.method == method]) for method in methods},
        "differences": {
            f"{method} - {reference}": _difference(evidence, method, reference)
            for method in methods
            if method != reference
        },
        "order": [run.method for run in trial.runs()],
        "runs_in_order": [
            {"run": e.run.number, "layout": e.run.round, "method": e.run.method, "success": e.outcome.success,
             "seconds": round(e.outcome.seconds, 2), "median_tr": _number(e.median_tr), "stopped": e.outcome.stopped}
            for e in sorted(evidence, key=lambda entry: entry.run.number)
        ],
    }  # fmt: skip


def _method(evidence: Sequence[Evidence]) -> dict[str, Any]:
    if not evidence:
        return {"success": None, "temporal_ratio": None}
    won = [entry for entry in evidence if entry.outcome.success]
    lost = [entry for entry in evidence if not entry.outcome.success]
    return {
        "success": asdict(wilson(len(won), len(evidence))),
        "seconds_to_success_p50": _median([entry.outcome.seconds for entry in won]),
        "stopped_by_itself": sum(bool(entry.outcome.stopped) for entry in evidence),
        "temporal_ratio": {"success": _ratios(won), "failure": _ratios(lost)},
    }


def _ratios(evidence: Sequence[Evidence]) -> dict[str, Any] | None:
    """Quartiles over runs of each run's median TR; None without a run."""
    values = [entry.median_tr for entry in evidence if not np.isnan(entry.median_tr)]
    if not values:
        return None
    low, middle, high = (round(float(value), 4) for value in np.percentile(values, (25, 50, 75)))
    return {"runs": len(values), "p25": low, "p50": middle, "p75": high}


def _difference(evidence: Sequence[Evidence], method: str, reference: str) -> dict[str, Any] | None:
    """On layouts where both have a verdict."""
    one = {e.run.round: e.outcome.success for e in evidence if e.run.method == method}
    other = {e.run.round: e.outcome.success for e in evidence if e.run.method == reference}
    both = sorted(one.keys() & other.keys())
    return asdict(paired([one[r] for r in both], [other[r] for r in both])) if both else None


def _median(values: Sequence[float]) -> float | None:
    return round(float(np.median(values)), 3) if values else None


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(value, 4)
