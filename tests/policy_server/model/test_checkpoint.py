from __future__ import annotations

from pathlib import Path

import pytest
import torch
from pydantic import ValidationError

from contract.errors import BundleError, ConfigurationError
from policy_server.model.checkpoint import CARD, CONFIG, WEIGHTS, load_checkpoint
from policy_server.model.config import ModelConfig
from policy_server.model.presets import PRESETS, preset
from policy_server.model.untrained import make_untrained
from tests.policy_server.model.nano import nano


def test_a_checkpoint_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    model = make_untrained(tmp_path, seed=4, size=nano())
    loaded = load_checkpoint(tmp_path)
    assert loaded.config == nano()
    assert not loaded.card.trained
    assert loaded.card.provenance.seed == 4
    before, after = model.state_dict(), loaded.model.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_untrained(tmp_path / name, seed=4, size=nano())
    for name in (CONFIG, CARD, WEIGHTS):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize("name", [CONFIG, CARD, WEIGHTS])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    make_untrained(tmp_path, size=nano())
    (tmp_path / name).unlink()
    with pytest.raises(BundleError, match=name):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize("kept", [0, 100, 5000])
def test_weights_cut_short_are_refused(tmp_path: Path, kept: int) -> None:
    make_untrained(tmp_path, size=nano())
    weights = (tmp_path / WEIGHTS).read_bytes()
    (tmp_path / WEIGHTS).write_bytes(weights[:kept])
    with pytest.raises(BundleError, match=WEIGHTS):
        load_checkpoint(tmp_path)


def test_weights_of_another_configuration_are_refused(tmp_path: Path) -> None:
    make_untrained(tmp_path / "flow", size=nano())
    make_untrained(tmp_path / "once", size=nano("read_once"))
    (tmp_path / "flow" / WEIGHTS).write_bytes((tmp_path / "once" / WEIGHTS).read_bytes())
    with pytest.raises(BundleError, match=r"head\."):
        load_checkpoint(tmp_path / "flow")


def test_weights_of_another_size_are_refused_by_name(tmp_path: Path) -> None:
    make_untrained(tmp_path / "narrow", size=nano())
    make_untrained(tmp_path / "wide", size=nano(head_dim=32))
    (tmp_path / "narrow" / WEIGHTS).write_bytes((tmp_path / "wide" / WEIGHTS).read_bytes())
    with pytest.raises(BundleError, match=r"backbone\."):
        load_checkpoint(tmp_path / "narrow")


def test_an_unknown_key_of_the_configuration_is_named(tmp_path: Path) -> None:
    make_untrained(tmp_path, size=nano())
    text = (tmp_path / CONFIG).read_text()
    (tmp_path / CONFIG).write_text(text.replace('"layers"', '"layerz"', 1))
    with pytest.raises(BundleError, match=r"backbone\.layer"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_survive_their_own_json(name: str) -> None:
    config = preset(name)
    assert ModelConfig.model_validate_json(config.model_dump_json()) == config


def test_an_unknown_preset_lists_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"tiny, .*cosmos_2b"):
        preset("huge")


@pytest.mark.parametrize(
    ("backbone", "words"),
    [
        ({"tap_block": 2}, "tap_block 2"),
        ({"passes": 0, "sigma": 0.5}, "no passes means sigma = 1"),
        ({"passes": 2, "sigma": 1.0}, "no passes means sigma = 1"),
        ({"patch": (2, 2, 2)}, "time must not be patched"),
        ({"patch": (1, 3, 2)}, "canvas height 32"),
    ],
)
def test_sizes_that_contradict_each_other_are_refused(backbone: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        nano(**backbone)
