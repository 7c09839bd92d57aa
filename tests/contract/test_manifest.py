"""policy.toml: undeclared or inconsistent policies are refused (B24)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from contract.layout import SIZE
from contract.manifest import BundleManifest
from tests.contract.manifests import manifest, statistics


def test_a_valid_manifest_loads_and_knows_its_tokens() -> None:
    loaded = BundleManifest.model_validate(manifest())
    assert (loaded.video.tokens_per_frame, loaded.video.future_tokens) == (24, 96)
    assert [camera.role for camera in loaded.canvas.cameras()] == ["top", "left_wrist", "right_wrist"]


def _set(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        for name in parents:
            data = data[name]
        data[last] = value

    return change


def _overlap(data: dict[str, Any]) -> None:
    data["canvas"]["views"] = [*data["canvas"]["views"][:2], {**data["canvas"]["views"][2], "top": 10}]


CALIBRATION = {"quantiles": [0.1, 0.2], "replans": 9, "sigma": 0.5, "horizon": 16, "engine_id": "x", "source": "y"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_set("surprise", 1), "surprise"),
        (_set("action.kinds", ["delta"] * SIZE), "delta"),
        (_set("action.kinds", ["absolute"] * (SIZE - 1)), "kinds"),
        (lambda data: data["action"].pop("kinds"), "kinds"),
        (_set("action.statistics", [statistics(), statistics()]), "twice"),
        (_set("state", {**statistics(), "scale": [0.0] * SIZE}), "constant channel"),
        (_set("state", {**statistics(), "scale": [float("nan")] * SIZE}), "scale of"),
        (_set("guidance.trained_nulls", ["future"]), "language"),
        (_set("guidance.q_lo", 0.95), "q_lo"),
        (_set("head.max_prefix", 16), "no free row"),
        (_set("video.tap_block", 4), "tap_block"),
        (_set("video.passes", 0), "sigma = 1"),
        (_set("video.sigma", 1.0), "sigma below 1"),
        (_set("canvas.width", 90), "leaves the canvas"),
        (_overlap, "overlap"),
        (_set("tr_calibration", {**CALIBRATION, "sigma": 0.4}), "calibrate again"),
        (_set("tr_calibration", {**CALIBRATION, "quantiles": [0.2, 0.1]}), "must not fall"),
    ],
)
def test_an_inconsistent_policy_is_refused(change: Callable[[dict[str, Any]], None], says: str) -> None:
    """B24: a policy without declared action meaning, or with statistics of another kind, drove the arm to zero."""
    data = manifest()
    change(data)
    with pytest.raises(ValidationError, match=says):
        BundleManifest.model_validate(data)
