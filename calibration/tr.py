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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

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
    horizon: int = 0
    """Of the policy that answered; 0 = the episodes do not say."""
    guided: int = 0
    """Replans left out because guidance moved the arms away from where the policy alone would have."""
    instructions: dict[str, int] = field(default_factory=dict)
    """What the policy was told -> unguided replans."""

    @property
    def values(self) -> NDArray[np.float64]:
        """(n,) of all phases."""
        return np.array([value for values in self.by_phase.values() for value in values])


def phases_of(pairs: Sequence[str]) -> dict[str, str]:
    """Instruction -> phase, of PHASE=INSTRUCTION. Raises `ConfigurationError` for what is not so."""
    named = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (name.strip() and equals and text.strip()):
            raise ConfigurationError("--phases", expected="PHASE=INSTRUCTION", got=pair, remedy='reach="pick up ..."')
        named[text.strip()] = name.strip()
    return named


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
        told = replan.observation.instruction
        result.instructions[told] = result.instructions.get(told, 0) + 1
        phase = phases.get(told, "")
        result.by_phase.setdefault(phase, []).append(replan.answered.tr_value)
    info = reader.server_info
    engine = "" if info is None else info.engine_id
    if result.engine_id and engine != result.engine_id:
        raise EpisodeError(
            f"{path}: engine", expected=result.engine_id, got=engine, remedy="calibrate each engine by itself"
        )
    result.engine_id = engine
    result.horizon = 0 if info is None else info.horizon


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


def warnings(bundle: Path, engine_id: str, horizon: int = 0) -> list[str]:
    """What does not fit: the stored calibration against the policy's sigma and horizon and against the engine of the
    episodes, and the episodes' policy against the bundle's."""
    manifest, stored = _manifest(bundle)
    lines = [f"WARNING: the stored calibration is of {text}" for text in _others(manifest, stored)]
    if stored is None:
        lines.append("the bundle has no TR calibration yet")
    elif engine_id and stored.get("engine_id") != engine_id:
        lines.append(f"WARNING: the stored calibration is of engine {stored.get('engine_id')}, not {engine_id}")
    if engine_id and manifest.weights_hash[:12] not in engine_id:
        lines.append(f"WARNING: the episodes are of engine {engine_id}, this bundle's weights are "
                     f"{manifest.weights_hash[:12]}")  # fmt: skip
    if horizon and horizon != manifest.head.horizon:
        lines.append(f"WARNING: the episodes are of horizon {horizon}, not {manifest.head.horizon}")
    return lines


def require_fresh(bundle: Path) -> None:
    """Raises `ConfigurationError` for a bundle whose calibration is of another sigma or horizon: no server runs it, so
    the episodes can only be of the policy as it was before."""
    manifest, stored = _manifest(bundle)
    others = _others(manifest, stored)
    if others:
        raise ConfigurationError(
            f"TR calibration of {bundle}", expected="of this policy, or none", got=f"of {' and '.join(others)}",
            remedy="remove [tr_calibration] from its policy.toml, record unguided episodes with it, then this again",
        )  # fmt: skip


def _others(manifest: BundleManifest, stored: dict[str, Any] | None) -> list[str]:
    if stored is None:
        return []
    pairs = (("sigma", manifest.video.sigma), ("horizon", manifest.head.horizon))
    return [f"{name} {stored.get(name)}, not {now}" for name, now in pairs if stored.get(name) != now]


def _manifest(bundle: Path) -> tuple[BundleManifest, dict[str, Any] | None]:
    """The policy, and its stored calibration as it is written: one that does not fit must be read to be told of."""
    content = read_toml(bundle / "policy.toml")
    stored = content.pop("tr_calibration", None)
    try:
        return BundleManifest.model_validate(content), stored if isinstance(stored, dict) else None
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ConfigurationError(
            f"{bundle}/policy.toml: {'.'.join(str(part) for part in fault['loc'])}", expected=fault["msg"],
            got=repr(fault.get("input"))[:80], remedy="export the bundle again",
        ) from error  # fmt: skip


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


def unmatched(found: Collected, phases: Mapping[str, str]) -> list[str]:
    """Phases whose instruction nobody gave, with those that were given."""
    told = ", ".join(repr(text) for text in sorted(found.instructions))
    return [
        f"WARNING: phase {name}: no replan was told {text!r}; told were {told}"
        for text, name in phases.items() if text not in found.instructions
    ]  # fmt: skip


def ranks(bundle: Path, q_lo: float | None, q_hi: float | None) -> tuple[float, float]:
    """Between which adaptive guidance rises: as given, else the bundle's."""
    guidance = _manifest(bundle)[0].guidance
    low, high = guidance.q_lo if q_lo is None else q_lo, guidance.q_hi if q_hi is None else q_hi
    if not 0.0 <= low < high <= 1.0:
        raise ConfigurationError("--q-lo, --q-hi", expected="0 <= q_lo < q_hi <= 1", got=f"{low:g}, {high:g}")
    return low, high
