"""A stopped run goes on as if it had not been stopped, or says why it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from contract.errors import ConfigurationError
from training.run import Run
from training.start import train


def weights(checkpoint: Path) -> dict[str, torch.Tensor]:
    return load_file(str(checkpoint / "weights.safetensors"))


@pytest.mark.parametrize("stage", ["action", "video"])
def test_a_resumed_run_ends_with_the_weights_of_an_uninterrupted_one(run: Run, stage: str, tmp_path: Path) -> None:
    chosen = run.model_copy(update={"stage": stage})
    whole = train(chosen, tmp_path / "whole", "test", lambda line: None)
    train(chosen, tmp_path / "parts", "test", lambda line: None, stop_at=4)
    parts = train(chosen, tmp_path / "parts", "test", lambda line: None)
    first, second = weights(whole), weights(parts)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_training_moves_the_weights(run: Run, tmp_path: Path) -> None:
    some = weights(train(run, tmp_path / "a", "test", lambda line: None, stop_at=3))
    more = weights(train(run, tmp_path / "a", "test", lambda line: None))
    assert not torch.equal(some["head.out.weight"], more["head.out.weight"])
    assert not torch.equal(some["latent.stem.0.weight"], more["latent.stem.0.weight"])
    assert torch.equal(some["latent.basis"], more["latent.basis"])


def test_a_frozen_backbone_stays_as_it_was(run: Run, tmp_path: Path) -> None:
    frozen = run.model_copy(update={"action": run.action.model_copy(update={"adaptation": "frozen"})})
    some = weights(train(frozen, tmp_path / "a", "test", lambda line: None, stop_at=3))
    more = weights(train(frozen, tmp_path / "a", "test", lambda line: None))
    changed = {name.split(".")[0] for name in some if not torch.equal(some[name], more[name])}
    assert changed == {"head"}


def test_resume_with_another_run_is_refused_and_names_what_differs(run: Run, tmp_path: Path) -> None:
    train(run, tmp_path / "a", "test", lambda line: None, stop_at=3)
    with pytest.raises(ConfigurationError, match=r"seed was 0, is 1"):
        train(run.model_copy(update={"seed": 1}), tmp_path / "a", "test", lambda line: None)


def test_a_run_noted_before_a_key_existed_goes_on(run: Run, tmp_path: Path) -> None:
    """A new setting with a default must not strand runs that were started without it."""
    train(run, tmp_path / "a", "test", lambda line: None, stop_at=3)
    state = tmp_path / "a" / "state" / "state.json"
    noted = json.loads(state.read_text())
    del noted["run"]["moment_every"], noted["run"]["action"]["null_future"]
    state.write_text(json.dumps(noted))
    train(run, tmp_path / "a", "test", lambda line: None, stop_at=4)
    noted["run"]["action"]["draws"] = 7
    state.write_text(json.dumps(noted))
    with pytest.raises(ConfigurationError, match="draws"):
        train(run, tmp_path / "a", "test", lambda line: None)


def test_the_log_has_one_line_per_interval_and_none_twice_after_a_resume(run: Run, tmp_path: Path) -> None:
    train(run, tmp_path / "a", "test", lambda line: None, stop_at=5)
    (tmp_path / "a" / "log.jsonl").open("a").write('{"step": 99}\n')
    train(run, tmp_path / "a", "test", lambda line: None)
    lines = [json.loads(line) for line in (tmp_path / "a" / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [3, 5, 6]
    assert all("fresh_action" in line for line in lines)


def test_another_seed_gives_other_weights(run: Run, tmp_path: Path) -> None:
    one = weights(train(run, tmp_path / "a", "test", lambda line: None, stop_at=1))
    two = weights(train(run.model_copy(update={"seed": 1}), tmp_path / "b", "test", lambda line: None, stop_at=1))
    assert not torch.equal(one["head.out.weight"], two["head.out.weight"])
