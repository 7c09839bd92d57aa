"""An untrained policy says what it is, moves the arms gently, and depends on everything it is shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contract.layout import GRIPPER_MASK, JOINT_MASK
from contract.manifest import BundleManifest
from contract.station import load_station
from contract.types import ActionChunk, Observation
from policy_server.engines.torch_engine import TorchEngine
from policy_server.export.manifest import manifest_of
from policy_server.export.untrained_bundle import untrained_bundle
from policy_server.model.checkpoint import load_checkpoint
from policy_server.policy import Policy
from policy_server.warm_up import neutral_observation


@pytest.fixture(scope="module")
def policy(tiny_checkpoint: Path) -> Policy:
    """On torch, which spares the export."""
    return Policy(manifest_of(load_checkpoint(tiny_checkpoint), "fp32"), TorchEngine.load(tiny_checkpoint))


def asked(policy: Policy, **changes: object) -> Observation:
    base = neutral_observation(policy.manifest)
    home = load_station("twin").poses.home.vector().astype(np.float32)
    images = scene(base, 0)
    fields = {"joints": home, "images": images, "instruction": "put the red cube in the bin", "seed": 1}
    return replace(base, **{**fields, **changes})


def scene(base: Observation, seed: int) -> dict[str, np.ndarray]:
    """A plain table with a few coloured squares."""
    rng = np.random.default_rng(seed)
    images = {role: np.full_like(image, 120) for role, image in base.images.items()}
    for image in images.values():
        for _ in range(4):
            top, left = rng.integers(0, image.shape[0] - 6, 2)
            image[top : top + 6, left : left + 6] = rng.integers(0, 256, 3)
    return images


def answer(policy: Policy, **changes: object) -> ActionChunk:
    return policy.replan(asked(policy, guidance="off", **changes), lambda: 0)


def test_the_manifest_says_that_nothing_was_trained_and_how_to_make_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unexported(checkpoint: str, out: Path, progress: object) -> BundleManifest:
        return manifest_of(load_checkpoint(Path(checkpoint)), "fp32")

    monkeypatch.setattr("policy_server.export.untrained_bundle.export_bundle", unexported)
    manifest = untrained_bundle(tmp_path / "random")
    assert not manifest.trained
    assert "untrained" in manifest.model_id
    assert manifest.video.feature_source == "untrained"
    assert manifest.provenance.seed == 0
    assert manifest.provenance.command.startswith(
        "python -m policy_server.export.untrained_bundle out/bundles/random --seed 0"
    )
    assert "nothing was trained" in manifest.provenance.data


def test_untrained_chunks_move_the_arms_visibly_and_gently_about_home(policy: Policy) -> None:
    home = load_station("twin").poses.home.vector()
    rows = np.stack([answer(policy, seed=seed).rows for seed in range(8)])
    away = np.abs(rows - home)[..., JOINT_MASK]
    assert 0.05 < away.mean() < 0.4
    assert away.max() < 1.0
    steps = np.abs(np.diff(rows, axis=1))[..., JOINT_MASK]
    assert 0.005 < steps.mean() < 0.08, "rad per 100 ms"
    assert np.ptp(rows[..., GRIPPER_MASK]) > 0.05


def test_the_ratio_differs_between_observations(policy: Policy) -> None:
    base = neutral_observation(policy.manifest)
    ratios = [answer(policy, images=scene(base, seed)).temporal_ratio.value for seed in range(12)]
    assert np.std(ratios) / np.mean(ratios) > 0.005
    assert 0.3 < np.mean(ratios) < 6


@pytest.mark.parametrize(
    "change",
    [
        {"instruction": "put the blue ball on the plate"},
        {"instruction": ""},
        {"seed": 2},
        {"joints": load_station("twin").poses.park.vector().astype(np.float32)},
    ],
    ids=["instruction", "null instruction", "seed", "joints"],
)
def test_what_is_asked_changes_the_chunk(policy: Policy, change: dict[str, object]) -> None:
    assert np.abs(answer(policy).rows - answer(policy, **change).rows).max() > 0.01


def test_what_is_seen_changes_the_chunk(policy: Policy) -> None:
    other = scene(neutral_observation(policy.manifest), 1)
    assert np.abs(answer(policy).rows - answer(policy, images=other).rows).max() > 0.001


def test_the_same_observation_gives_the_same_bits(policy: Policy) -> None:
    first, again = answer(policy), answer(policy)
    assert first.rows.tobytes() == again.rows.tobytes()
    assert first.temporal_ratio.masses.tobytes() == again.temporal_ratio.masses.tobytes()
