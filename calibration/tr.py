"""The Temporal Ratio of unguided replans of recorded episodes, and the bundle's quantiles of it.

The bundle is written by `yam-policy calibrate` as a process of its own: what a bundle may contain, and how it is
sealed, is known to the policy server alone, and calibration does not import it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import ConfigurationError, EpisodeError
from contract.manifest import BundleManifest
from contract.toml import read_toml
from robot_client.episodes.formats.choose import episodes_at
from robot_client.episodes.reader import BagReader
from robot_client.episodes.replans import ReplanReader

_BINS: Final = 24
_BAR: Final = 40
_TIMEOUT_S: Final = 120.0
SHOWN: Final = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(slots=True)
class Collected:
    """TR of unguided replans, by phase; "" where no phase was labelled."""

    by_phase: dict[str, list[float]] = field(default_factory=dict)
    engine_id: str = ""
    guided: int = 0
    """Replans left out because guidance moved the arms away from where the policy alone would have."""

    @property
    def values(self) -> NDArray[np.float64]:
        """(n,) of all phases."""
        return np.array([value for values in self.by_phase.values() for value in values])


def collected(folders: Sequence[Path], phases: dict[str, str] | None = None) -> Collected:
    """From episodes at `folders`. `phases`: instruction of a sub-task -> name of its phase.

    Raises `EpisodeError` for what cannot be read, and when the episodes are of several engines or policies.
    """
    result = Collected()
    for folder in folders:
        for source in episodes_at(folder):
            _add(result, source.path, phases or {})
    if not len(result.values):
        raise EpisodeError("episodes", expected="unguided replans", got="none", remedy="record with --guidance off")
    return result


def _add(result: Collected, path: Path, phases: dict[str, str]) -> None:
    reader = ReplanReader(BagReader(path))
    for replan in reader.replans():
        if replan.answered is None:
            continue
        # Not by the scales: adaptive guidance is off while TR is low, and those replans alone would be a wrong sample.
        if replan.observation.guidance != "off":
            result.guided += 1
            continue
        phase = phases.get(replan.observation.instruction, "")
        result.by_phase.setdefault(phase, []).append(replan.answered.tr_value)
    info = reader.server_info
    engine = "" if info is None else info.engine_id
    if result.engine_id and engine != result.engine_id:
        raise EpisodeError(
            f"{path}: engine", expected=result.engine_id, got=engine, remedy="calibrate each engine by itself"
        )
    result.engine_id = engine


def store(bundle: Path, found: Collected, source: str, q_lo: float | None = None, q_hi: float | None = None) -> str:
    """What `yam-policy calibrate` says. Raises `ConfigurationError` with its words when it refuses."""
    program = shutil.which("yam-policy") or str(Path(sys.executable).with_name("yam-policy"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "replans.jsonl"
        path.write_text("".join(f"{line}\n" for line in _lines(found)), encoding="utf-8")
        ranks = [(flag, value) for flag, value in (("--q-lo", q_lo), ("--q-hi", q_hi)) if value is not None]
        try:
            done = subprocess.run(
                [program, "calibrate", str(bundle), str(path), "--source", source]
                + [word for flag, value in ranks for word in (flag, f"{value:g}")],
                capture_output=True, text=True, timeout=_TIMEOUT_S,
            )  # fmt: skip
        except FileNotFoundError as error:
            raise ConfigurationError("yam-policy", expected="installed", got=str(error), remedy="install it") from error
    if done.returncode:
        raise ConfigurationError("yam-policy calibrate", expected="to accept the replans", got=done.stderr.strip())
    return done.stdout.strip()


def _lines(found: Collected) -> Iterator[str]:
    for phase, values in found.by_phase.items():
        for value in values:
            entry = {"tr": float(value), "guidance": "off", "engine_id": found.engine_id, "phase": phase}
            yield json.dumps(entry)


def warnings(bundle: Path, engine_id: str) -> list[str]:
    """What does not fit: the stored calibration against the policy's sigma, horizon and this engine."""
    manifest = BundleManifest.model_validate(read_toml(bundle / "policy.toml"))
    stored = manifest.tr_calibration
    if stored is None:
        return ["the bundle has no TR calibration yet"]
    pairs = (
        ("sigma", stored.sigma, manifest.video.sigma),
        ("horizon", stored.horizon, manifest.head.horizon),
        ("engine", stored.engine_id, engine_id or stored.engine_id),
    )
    return [f"WARNING: the stored calibration is of {name} {old}, not {new}" for name, old, new in pairs if old != new]


def shown(found: Collected) -> list[str]:
    """Quantiles per phase and a histogram, for the terminal."""
    lines = []
    for phase, values in sorted(found.by_phase.items()):
        at = ", ".join(f"{q:.0%} {np.quantile(values, q):.4g}" for q in SHOWN)
        lines.append(f"{phase or 'all':<12} {len(values):>6} replans: {at}")
    counts, edges = np.histogram(found.values, _BINS)
    for count, edge in zip(counts, edges[:-1], strict=True):
        lines.append(f"{edge:10.4g} {'#' * round(_BAR * count / counts.max())} {count}")
    return lines


def ranks(bundle: Path, q_lo: float | None, q_hi: float | None) -> tuple[float, float]:
    """Between which adaptive guidance rises: as given, else the bundle's."""
    guidance = BundleManifest.model_validate(read_toml(bundle / "policy.toml")).guidance
    return (guidance.q_lo if q_lo is None else q_lo, guidance.q_hi if q_hi is None else q_hi)
