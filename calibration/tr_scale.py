"""A bundle's own scale of the Temporal Ratio: whether what is stored fits, and a new one from collected replans.

The bundle is written by `yam-policy calibrate` as a process of its own: what a bundle may contain, and how it is
sealed, is known to the policy server alone, and calibration does not import it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from calibration.tr import Collected
from contract.errors import ConfigurationError
from contract.manifest import BundleManifest
from contract.toml import read_toml

_TIMEOUT_S: Final = 120.0


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


def ranks(bundle: Path, q_lo: float | None, q_hi: float | None) -> tuple[float, float]:
    """Between which adaptive guidance rises: as given, else the bundle's."""
    guidance = _manifest(bundle)[0].guidance
    low, high = guidance.q_lo if q_lo is None else q_lo, guidance.q_hi if q_hi is None else q_hi
    if not 0.0 <= low < high <= 1.0:
        raise ConfigurationError("--q-lo, --q-hi", expected="0 <= q_lo < q_hi <= 1", got=f"{low:g}, {high:g}")
    return low, high


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
