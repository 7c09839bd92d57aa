"""`yam-policy calibrate`: quantiles of TR over unguided replans, stored in the bundle so that guidance has a scale."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from contract.errors import BundleError, FieldError
from contract.manifest import TrCalibration
from policy_server.bundle import load_bundle
from policy_server.bundle_writer import set_calibration

LEAST_REPLANS: Final = 50
"""Fewer say nothing about the tails that guidance is switched by."""
QUANTILES: Final = 101


def calibrate(
    bundle: Path, replans: Sequence[Path], source: str, q_lo: float | None = None, q_hi: float | None = None
) -> list[str]:
    """Stores the calibration and says what it is.

    `replans` are files of JSON lines as runs leave them (`replans.jsonl`); `source` says for people where they come
    from; `q_lo` and `q_hi` replace the ranks between which adaptive guidance rises. Raises `FieldError` for a guided
    replan or another engine's, `BundleError` when there are too few.
    """
    weights = load_bundle(bundle).manifest.weights_hash
    entries = [entry for path in replans for entry in _entries(path)]
    values = [_unguided(entry, weights) for entry in entries]
    if len(values) < LEAST_REPLANS:
        raise BundleError(
            "TR calibration", expected=f"{LEAST_REPLANS} replans or more", got=len(values), remedy="run for longer"
        )
    engines = sorted({entry["engine_id"] for entry in entries})
    if len(engines) > 1:
        raise FieldError("engine_id", expected="one engine", got=", ".join(engines), remedy="calibrate each by itself")
    manifest = load_bundle(bundle).manifest
    calibration = TrCalibration(
        quantiles=_quantiles(values),
        replans=len(values),
        sigma=manifest.video.sigma,
        horizon=manifest.head.horizon,
        engine_id=engines[0],
        source=source,
        phases=_by_phase(entries),
    )
    set_calibration(bundle, calibration, q_lo, q_hi)
    shown = ", ".join(f"{q:.0%} {np.quantile(values, q):.4g}" for q in (0.0, 0.05, 0.5, 0.95, 1.0))
    return [f"{bundle}: TR calibrated on {len(values)} unguided replans of {engines[0]}", f"quantiles  {shown}"]


def _quantiles(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(q) for q in np.quantile(values, np.linspace(0.0, 1.0, QUANTILES)))


def _by_phase(entries: Sequence[dict[str, Any]]) -> dict[str, tuple[float, ...]]:
    """Quantiles of every phase that replans are labelled with."""
    names = sorted({str(entry["phase"]) for entry in entries if entry.get("phase")})
    return {name: _quantiles([float(e["tr"]) for e in entries if e.get("phase") == name]) for name in names}


def _entries(path: Path) -> Iterable[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise FieldError(f"{path}", expected="a readable file", got=error.strerror, remedy="check the path") from error
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
        except json.JSONDecodeError as error:
            raise FieldError(f"{path}:{number}", expected="JSON", got=str(error), remedy="record again") from error
        missing = {"tr", "guidance", "engine_id"} - set(entry if isinstance(entry, dict) else ())
        if missing:
            raise FieldError(
                f"{path}:{number}", expected="a replan", got=f"no {sorted(missing)}", remedy="record again"
            )
        yield entry


def _unguided(entry: dict[str, Any], weights_hash: str) -> float:
    if entry["guidance"] != "off":
        raise FieldError(
            "guidance",
            expected="off",
            got=entry["guidance"],
            remedy="record with --guidance off: guided arms go elsewhere",
        )
    if weights_hash[:12] not in str(entry["engine_id"]):
        raise FieldError(
            "engine_id",
            expected=f"weights {weights_hash[:12]}",
            got=entry["engine_id"],
            remedy="record with this bundle",
        )
    value = float(entry["tr"])
    if not math.isfinite(value):
        raise FieldError("tr", expected="a finite number", got=value, remedy="record again")
    return value
