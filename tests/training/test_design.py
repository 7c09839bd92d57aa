"""A design sweep changes what is imagined and how noisily, and no weight."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from contract.errors import ConfigurationError
from policy_server.model.checkpoint import load_checkpoint
from training.design import designed, redesigned
from training.run import Design, Run
from training.start import starting_model, train

from .conftest import toy


def test_a_design_changes_what_it_says_and_nothing_else() -> None:
    whole = designed(toy(), Design(sigma=0.5, passes=2, ahead=8))
    assert (whole.backbone.sigma, whole.backbone.passes, whole.latent.temporal) == (0.5, 2, 8)
    assert designed(toy(), Design()) == toy()
    assert designed(whole, Design(sigma=1.0, passes=0, ahead=toy().latent.temporal)) == toy()


def test_a_noise_level_without_the_passes_to_it_is_refused_in_one_line() -> None:
    with pytest.raises(ConfigurationError, match=r"design.*no passes means sigma = 1"):
        designed(toy(), Design(sigma=0.5))


def test_a_run_of_another_design_starts_from_the_same_weights(run: Run, tmp_path: Path) -> None:
    start = train(run, tmp_path / "first", "test", lambda line: None, stop_at=1)
    other = run.model_copy(update={"start": str(start), "design": Design(sigma=0.5, passes=1)})
    mine, theirs = starting_model(other), load_checkpoint(start).model
    assert mine.config.backbone.sigma == 0.5 and theirs.config.backbone.sigma == 1.0
    for name, value in theirs.state_dict().items():
        assert torch.equal(value, mine.state_dict()[name]), name


def test_a_start_of_another_design_than_the_run_is_refused(run: Run, tmp_path: Path) -> None:
    noisy = run.model_copy(update={"design": Design(sigma=0.5, passes=1)})
    start = train(noisy, tmp_path / "first", "test", lambda line: None, stop_at=1)
    with pytest.raises(ConfigurationError, match="correct `start`"):
        starting_model(run.model_copy(update={"start": str(start)}))


def test_the_same_design_gives_the_model_itself() -> None:
    from policy_server.model.policy import build

    model = build(toy(), 1)
    assert redesigned(model, Design()) is model
