"""LoRA trains its additions and the head alone, and is merged before anything is exported."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from policy_server.model.checkpoint import load_checkpoint
from training.adaptation import adapt, merged
from training.run import Run
from training.start import starting_model, train


@pytest.fixture
def lora(run: Run) -> Run:
    """The toy run with additions of rank 3."""
    action = run.action.model_copy(update={"adaptation": "lora", "lora_rank": 3})
    return run.model_copy(update={"action": action, "name": "lora", "bf16": False})


def weights(checkpoint: Path) -> dict[str, torch.Tensor]:
    return load_file(str(checkpoint / "weights.safetensors"))


def passed(model, seed: int = 0) -> torch.Tensor:
    """Features of one random clip."""
    draw = torch.Generator().manual_seed(seed)
    config = model.config
    latents = torch.randn(2, config.latent.channels, config.latent.frames, *config.latent_size, generator=draw)
    text = torch.randn(2, config.text.length, config.text.width, generator=draw)
    with torch.no_grad():
        return model.backbone.features(latents, torch.rand(2, config.latent.frames, generator=draw), text)


def test_additions_change_nothing_at_first_and_merging_changes_nothing_ever(lora: Run) -> None:
    plain, adapted = starting_model(lora), starting_model(lora)
    adapt(adapted, lora)
    torch.testing.assert_close(passed(adapted), passed(plain), rtol=0, atol=1e-6)
    for name, parameter in adapted.backbone.named_parameters():
        if ".lora_B." in name:
            torch.nn.init.normal_(parameter, std=0.3)
    assert (passed(adapted) - passed(plain)).abs().max() > 1e-2
    torch.testing.assert_close(passed(merged(adapted)), passed(adapted), rtol=1e-4, atol=1e-5)
    assert merged(adapted).state_dict().keys() == plain.state_dict().keys()


def test_lora_moves_the_blocks_and_the_head_and_nothing_else(lora: Run, tmp_path: Path) -> None:
    some = weights(train(lora, tmp_path / "a", "test", lambda line: None, stop_at=2))
    checkpoint = train(lora, tmp_path / "a", "test", lambda line: None)
    more = weights(checkpoint)
    changed = {name for name in some if not torch.equal(some[name], more[name])}
    assert "backbone.dit.transformer_blocks.0.attn1.to_q.weight" in changed
    for name in changed:
        adapted = "transformer_blocks" in name and name.endswith(".weight") and ".norm" not in name
        assert name.startswith("head.") or adapted, name
    assert load_checkpoint(checkpoint).card.trained


def test_a_resumed_lora_run_ends_where_an_uninterrupted_one_does(lora: Run, tmp_path: Path) -> None:
    whole = weights(train(lora, tmp_path / "whole", "test", lambda line: None))
    train(lora, tmp_path / "parts", "test", lambda line: None, stop_at=4)
    parts = weights(train(lora, tmp_path / "parts", "test", lambda line: None))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
