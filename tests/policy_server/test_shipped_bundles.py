"""The bundles in the repository: trained, small, whole, and saying where they come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy_server.bundle import load_bundle

BUNDLES = sorted(path.parent for path in (Path(__file__).resolve().parents[2] / "bundles").glob("*/policy.toml"))
MOST_BYTES = 25_000_000


@pytest.mark.parametrize("folder", BUNDLES, ids=lambda folder: folder.name)
def test_a_bundle_of_the_repository_is_trained_small_and_says_how_it_was_made(folder: Path) -> None:
    """An untrained one stood beside them, and commands ran it when nothing else was said."""
    manifest = load_bundle(folder).manifest
    assert manifest.trained and manifest.tr_calibration is not None
    assert sum(path.stat().st_size for path in folder.rglob("*")) <= MOST_BYTES
    assert manifest.provenance.command.startswith("yam-train run training/configs/")
    assert "sha256" in manifest.provenance.data and manifest.provenance.scores["id_success_kept"] >= 0.9


def test_the_policy_that_the_demo_runs_is_there() -> None:
    assert "trained-foresight" in [folder.name for folder in BUNDLES]
