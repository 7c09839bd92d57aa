"""A trained checkpoint to a served bundle: export, check against torch, calibrate TR, note the scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from contract.errors import BundleError
from contract.manifest import BundleManifest, Guidance, TrCalibration
from policy_server.bundle import read_manifest
from policy_server.bundle_writer import set_calibration, write_manifest
from policy_server.export.bundle import export_bundle

LARGEST_BYTES = 25_000_000
_QUANTILES = 21


def publish(checkpoint: Path, bundle: Path, say: Callable[[str], None] = print) -> BundleManifest:
    """Export and check the size. Raises `BundleError` when the bundle is too large to ship."""
    manifest = export_bundle(checkpoint, bundle, progress=say)
    size = sum(path.stat().st_size for path in bundle.iterdir())
    if size > LARGEST_BYTES:
        raise BundleError(
            f"{bundle}", expected=f"at most {LARGEST_BYTES} bytes", got=size, remedy="use a smaller model"
        )
    say(f"{bundle}: {size / 1e6:.1f} MB")
    return manifest


def calibrate(bundle: Path, outcomes: Sequence[dict[str, Any]], engine_id: str, source: str) -> BundleManifest:
    """Store quantiles of TR over the unguided replans of in-distribution episodes (PAPER.md)."""
    ratios = [ratio for one in outcomes if one["split"] == "id" for ratio in one["ratios"]]
    manifest = read_manifest(bundle)
    quantiles = np.quantile(ratios, np.linspace(0.0, 1.0, _QUANTILES)).round(6)
    return set_calibration(
        bundle,
        TrCalibration(
            quantiles=tuple(quantiles.tolist()),
            replans=len(ratios),
            sigma=manifest.video.sigma,
            horizon=manifest.head.horizon,
            engine_id=engine_id,
            source=source,
        ),
    )


def set_strength(bundle: Path, w_max: float) -> BundleManifest:
    """Make adaptive guidance of that largest scale, on language and on the plan alike, the bundle's default."""
    manifest = read_manifest(bundle)
    settings = {**manifest.guidance.model_dump(), "mode": "adaptive", "w_lang_max": w_max, "w_plan_max": w_max}
    updated = manifest.model_copy(update={"guidance": Guidance.model_validate(settings)})
    write_manifest(bundle, updated)
    return updated


def note_scores(bundle: Path, scores: dict[str, float]) -> BundleManifest:
    """Add scores to the provenance of a bundle; the weights stay as they are."""
    manifest = read_manifest(bundle)
    merged = {**manifest.provenance.scores, **{name: round(value, 4) for name, value in scores.items()}}
    provenance = manifest.provenance.model_copy(update={"scores": merged})
    updated = manifest.model_copy(update={"provenance": provenance})
    write_manifest(bundle, updated)
    return updated
