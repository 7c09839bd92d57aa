"""The first version of `about.toml` beside outcomes: what the manifest says; a person adds what they are for."""

from __future__ import annotations

from pathlib import Path

import tomli_w

from contract.manifest import BundleManifest
from training.analyse.cell import ABOUT


def describe(folder: Path, manifest: BundleManifest, rotation: int) -> None:
    """Write the file if there is none. `use` is empty: nothing is counted before a person says what for."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / ABOUT).exists():
        return
    facts = {
        "policy": manifest.model_id,
        "what": f"weights {manifest.weights_hash[:12]}",
        "use": [],
        "head_seed": manifest.provenance.seed,
        "rotation": rotation,
        "sigma": manifest.video.sigma,
        "horizon": manifest.video.pixel_frames - 1,
    }
    (folder / ABOUT).write_text(tomli_w.dumps(facts), encoding="utf-8")
