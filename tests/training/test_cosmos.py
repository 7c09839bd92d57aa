"""A Cosmos pipeline folder is fine-tuned on recorded episodes by the same code: shown on a few thousand weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers import AutoencoderKLWan, CosmosTransformer3DModel
from safetensors.torch import load_file, save_file

from contract.errors import BundleError, ConfigurationError, VocabularyError
from policy_server.model import presets
from policy_server.model.checkpoint import load_checkpoint
from policy_server.model.config import ModelConfig
from training.cosmos import adopt_cosmos
from training.data.shard import EpisodeEntry, Recording, write_shard
from training.run import ActionLoss, Optimisation, Run, VideoLoss
from training.start import train

SAID = ("fold the towel", "put the cup on the shelf")
LENGTH = 24


def small() -> ModelConfig:
    """cosmos_2b's structure on the tiny canvas with next to no head."""
    full = presets.cosmos_2b()
    return full.model_copy(
        update={
            "name": "cosmos_toy",
            "canvas": presets.tiny().canvas,
            "latent": full.latent.model_copy(update={"frames": 2}),
            "text": full.text.model_copy(update={"length": 4}),
            "backbone": full.backbone.model_copy(update={"kernel": "matmul"}),
            "head": full.head.model_copy(
                update={"width": 16, "layers": 1, "heads": 2, "head_dim": 8, "time_width": 8}
            ),
        }
    )  # fmt: skip


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pipeline folder as diffusers saves it, and its instructions."""
    monkeypatch.setitem(presets.PRESETS, "cosmos_toy", small)
    torch.manual_seed(0)
    CosmosTransformer3DModel(
        in_channels=17, out_channels=16, num_attention_heads=1, attention_head_dim=12, num_layers=2,
        text_embed_dim=8, adaln_lora_dim=4, max_size=(2, 8, 12), rope_scale=(1.0, 3.0, 3.0), extra_pos_embed_type=None,
    ).save_pretrained(tmp_path / "cosmos" / "transformer")  # fmt: skip
    AutoencoderKLWan(base_dim=4, dim_mult=[1, 1, 1, 1], num_res_blocks=1).save_pretrained(tmp_path / "cosmos" / "vae")
    save_file({said: torch.randn(3, 8) for said in SAID}, str(tmp_path / "instructions.safetensors"))
    return tmp_path / "cosmos"


def episode(number: int) -> Recording:
    """A foreign episode of noise."""
    rng = np.random.default_rng(number)
    entry = EpisodeEntry(number, "", "", 0, LENGTH, LENGTH, 1, instruction=SAID[number % 2])
    return Recording(
        entry,
        rng.integers(0, 256, (LENGTH, 64, 96, 3), np.uint8),
        rng.normal(size=(LENGTH, 14)).astype(np.float32),
        rng.normal(size=(LENGTH, 14)).astype(np.float32),
        np.full(LENGTH, 255, np.uint8),
    )


@pytest.fixture
def make_run(pipeline: Path, tmp_path: Path) -> Callable[..., Run]:
    """A run of two steps from the pipeline's checkpoint."""
    adopt_cosmos(pipeline, tmp_path / "instructions.safetensors", tmp_path / "start", "cosmos_toy")
    write_shard(tmp_path / "data" / "shard-0000", [episode(number) for number in range(4)])

    def made(**action: object) -> Run:
        return Run(
            name="cosmos", stage="action", data=(tmp_path / "data",), size="start", start=str(tmp_path / "start"),
            moment_every=1, bf16=False, optimisation=Optimisation(steps=2, batch=2, warmup_steps=1, ema=0.0),
            video=VideoLoss(pure_noise_share=1.0, mirror=0.0),
            action=ActionLoss(mirror=0.0, draws=2, lora_rank=2, **action),
        )  # fmt: skip

    return made


def test_the_checkpoint_has_the_pipelines_weights_and_instructions(pipeline: Path, tmp_path: Path) -> None:
    adopt_cosmos(pipeline, tmp_path / "instructions.safetensors", tmp_path / "start", "cosmos_toy")
    loaded = load_checkpoint(tmp_path / "start")
    assert loaded.config.backbone.layers == 2 and loaded.config.text.vocabulary == SAID
    assert not loaded.card.trained
    given = load_file(str(pipeline / "transformer" / "diffusion_pytorch_model.safetensors"))
    own = loaded.model.backbone.dit.state_dict()
    assert all(torch.equal(own[name], value) for name, value in given.items())
    stored = load_file(str(tmp_path / "instructions.safetensors"))[SAID[1]]
    text = loaded.model.instruction(torch.tensor([[2], [0]]))
    assert torch.equal(text[0, :3], stored) and not text[0, 3:].any() and not text[1].any()


def test_lora_fine_tunes_the_blocks_and_the_result_answers_an_observation(make_run, tmp_path: Path) -> None:
    from policy_server.policy import Policy
    from policy_server.warm_up import neutral_observation
    from training.evaluate.subject import open_subject

    checkpoint = train(make_run(adaptation="lora"), tmp_path / "run", "test", lambda line: None)
    before, after = (load_file(str(path / "weights.safetensors")) for path in (tmp_path / "start", checkpoint))
    moved = {name.rsplit(".", 2)[0] for name in before if not torch.equal(before[name], after[name])}
    assert "backbone.dit.transformer_blocks.0.attn1" in moved
    assert all(name.startswith(("head", "backbone.dit.transformer_blocks")) for name in moved)
    card = load_checkpoint(checkpoint).card
    assert card.trained and card.feature_source == "noised_true"
    subject = open_subject(checkpoint)
    asked = replace(neutral_observation(subject.manifest), instruction=SAID[0])
    rows = Policy(subject.manifest, subject.engine).replan(asked, lambda: 0).rows
    assert rows.shape[1] == 14 and np.isfinite(rows).all()


def test_a_frozen_video_model_stays_as_it_was(make_run, tmp_path: Path) -> None:
    checkpoint = train(make_run(adaptation="frozen", video_weight=0.0), tmp_path / "run", "test", lambda line: None)
    before, after = (load_file(str(path / "weights.safetensors")) for path in (tmp_path / "start", checkpoint))
    assert {name.split(".")[0] for name in before if not torch.equal(before[name], after[name])} == {"head"}


def test_a_sentence_without_cached_states_is_named_before_training(make_run, tmp_path: Path) -> None:
    write_shard(tmp_path / "data" / "shard-0001", [replace_instruction(episode(5), "open the drawer")])
    with pytest.raises(VocabularyError, match="open the drawer"):
        train(make_run(), tmp_path / "run", "test", lambda line: None)


def test_data_with_too_few_pictures_is_named(make_run, tmp_path: Path) -> None:
    sparse = episode(6)
    entry = replace(sparse.entry, stride=4)
    write_shard(tmp_path / "data" / "shard-0001", [replace(sparse, entry=entry, frames=sparse.frames[::4])])
    with pytest.raises(ConfigurationError, match="stride 1"):
        train(make_run(), tmp_path / "run", "test", lambda line: None)


def test_a_folder_that_is_no_pipeline_is_named(pipeline: Path, tmp_path: Path) -> None:
    (pipeline / "vae" / "config.json").unlink()
    with pytest.raises(BundleError, match=r"vae/config.json"):
        adopt_cosmos(pipeline, tmp_path / "instructions.safetensors", tmp_path / "start", "cosmos_toy")


def replace_instruction(one: Recording, said: str) -> Recording:
    return replace(one, entry=replace(one.entry, instruction=said))
