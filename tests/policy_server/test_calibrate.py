"""TR calibration takes unguided replans of this bundle's engine and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contract.errors import BundleError, FieldError
from policy_server.bundle import load_bundle
from policy_server.commands.calibrate import calibrate

BUNDLE = Path(__file__).resolve().parents[2] / "bundles" / "trained-foresight"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BUNDLE, tmp_path / "bundle"))


def recorded(bundle: Path, count: int = 200, **changes: Any) -> Path:
    weights = load_bundle(bundle).manifest.weights_hash[:12]
    rng = np.random.default_rng(0)
    entries = [{"tr": t, "guidance": "off", "engine_id": f"e/{weights}", **changes} for t in rng.uniform(1, 3, count)]
    path = bundle.parent / "replans.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


def test_quantiles_are_those_of_the_recorded_replans(bundle: Path) -> None:
    said = calibrate(bundle, [recorded(bundle)], "a test")
    stored = load_bundle(bundle).manifest.tr_calibration
    assert stored is not None and stored.replans == 200 and stored.source == "a test"
    assert stored.quantiles[50] == pytest.approx(2.0, abs=0.15)
    assert "200 unguided replans" in said[0]


@pytest.mark.parametrize(
    ("count", "changes", "error", "says"),
    [
        (200, {"guidance": "adaptive"}, FieldError, "guidance"),
        (200, {"engine_id": "another"}, FieldError, "record with this bundle"),
        (200, {"tr": float("nan")}, FieldError, "finite"),
        (10, {}, BundleError, "50 replans"),
    ],
)
def test_what_would_make_a_wrong_scale_is_refused(
    bundle: Path, count: int, changes: dict[str, Any], error: type[Exception], says: str
) -> None:
    before = load_bundle(bundle).manifest
    with pytest.raises(error, match=says):
        calibrate(bundle, [recorded(bundle, count, **changes)], "a test")
    assert load_bundle(bundle).manifest == before


def test_a_broken_line_is_named(bundle: Path) -> None:
    path = recorded(bundle)
    path.write_text(path.read_text() + "{oops\n")
    with pytest.raises(FieldError, match="jsonl:201"):
        calibrate(bundle, [path], "a test")
