"""The Temporal Ratio of recorded replans, and a bundle's quantiles of it."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from calibration import tr
from calibration.tr import Collected, collected, shown
from calibration.tr_scale import ranks, store, warnings
from contract.errors import ConfigurationError, EpisodeError
from contract.manifest import BundleManifest
from contract.toml import read_toml
from robot_client.episodes.reader import BagReader
from robot_client.episodes.replans import LoggedReplan, ReplanReader

ROOT = Path(__file__).resolve().parents[2]
EPISODE = ROOT / "tests/robot_client/episodes/reference/episode"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "bundles/trained-foresight", tmp_path / "bundle"))


def _found(bundle: Path, count: int) -> Collected:
    values = list(np.linspace(0.1, 0.3, count))
    weights = BundleManifest.model_validate(read_toml(bundle / "policy.toml")).weights_hash
    return Collected({"reach": values[: count // 2], "place": values[count // 2 :]}, f"engine/fp32/{weights[:12]}")


def test_quantiles_per_policy_and_phase_and_the_ranks_reach_the_bundle(bundle: Path) -> None:
    store(bundle, _found(bundle, 60), "a test", q_lo=0.4, q_hi=0.8)
    manifest = BundleManifest.model_validate(read_toml(bundle / "policy.toml"))
    stored = manifest.tr_calibration
    assert stored is not None and (stored.replans, stored.source) == (60, "a test")
    assert (stored.quantiles[0], stored.quantiles[-1]) == (0.1, 0.3) and set(stored.phases) == {"reach", "place"}
    assert max(stored.phases["reach"]) < min(stored.phases["place"])
    assert ranks(bundle, None, None) == (0.4, 0.8) == (manifest.guidance.q_lo, manifest.guidance.q_hi)
    assert warnings(bundle, stored.engine_id) == []
    assert any("engine" in line for line in warnings(bundle, "another/engine"))


def test_too_few_replans_are_refused_in_the_words_of_yam_policy(bundle: Path) -> None:
    with pytest.raises(ConfigurationError, match="50 replans"):
        store(bundle, _found(bundle, 20), "a test")


def test_the_distribution_is_shown_by_phase_and_as_a_histogram(bundle: Path) -> None:
    lines = shown(_found(bundle, 60))
    assert lines[0].startswith("place") and "50%" in lines[0]
    assert sum(int(line.split()[-1]) for line in lines[2:]) == 60


class SomeUnguided(ReplanReader):
    """The kept episode as if every other replan had been asked for without guidance."""

    def replans(self) -> Iterator[LoggedReplan]:
        for number, replan in enumerate(super().replans()):
            off = dataclasses.replace(replan.observation, guidance="off")
            yield dataclasses.replace(replan, observation=off) if number % 2 else replan


def test_guided_replans_of_an_episode_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tr, "ReplanReader", SomeUnguided)
    instruction = next(ReplanReader(BagReader(EPISODE)).replans()).observation.instruction
    found = collected([EPISODE], {instruction: "reach"})
    assert found.engine_id and abs(len(found.by_phase["reach"]) - found.guided) <= 1 and found.guided > 1


def test_an_episode_with_guidance_alone_calibrates_nothing() -> None:
    with pytest.raises(EpisodeError, match="--guidance off"):
        collected([EPISODE])
