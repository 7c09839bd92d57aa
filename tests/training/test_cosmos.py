"""A Cosmos pipeline folder is fine-tuned on recorded episodes by the same code: shown on a few thousand weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers import AutoencoderKLWan, CosmosTransformer3DModel
from safetensors.torch import load_file

from contract.errors import ConfigurationError, VocabularyError
from policy_server.model import presets
from policy_server.model.checkpoint import load_checkpoint
from policy_server.model.config import HeadConfig
from policy_server.model.cosmos.adopt import Wish, adopt
from policy_server.model.cosmos.embeddings import Embeddings
from policy_server.model.cosmos.folder import CosmosFolder
from training.data.shard import EpisodeEntry, Recording, write_shard
from training.run import ActionLoss, Optimisation, Run, VideoLoss
from training.start import train

SAID = ("fold the towel", "put the cup on the shelf")
LENGTH = 24


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """The checkpoint that `yam-policy adopt` makes of a pipeline folder as diffusers saves it."""
    torch.manual_seed(0)
    CosmosTransformer3DModel(
        in_channels=17, out_channels=16, num_attention_heads=1, attention_head_dim=12, num_layers=2,
        text_embed_dim=8, adaln_lora_dim=4, max_size=(2, 8, 12), rope_scale=(1.0, 3.0, 3.0), extra_pos_embed_type=None,
    ).save_pretrained(tmp_path / "cosmos" / "transformer")  # fmt: skip
    vae = AutoencoderKLWan(base_dim=4, dim_mult=[1, 1, 1, 1], num_res_blocks=1)
    vae.save_pretrained(tmp_path / "cosmos" / "vae")
    head = HeadConfig(kind="flow_transformer", width=16, layers=1, heads=2, head_dim=8, time_width=8)
    wish = Wish(presets.tiny().canvas, head, tap_block=0, sigma=0.6, passes=1, frames=2)
    embeddings = Embeddings(SAID, torch.randn(4, 8), torch.randn(len(SAID), 4, 8))
    adopt(CosmosFolder(tmp_path / "cosmos"), wish, embeddings, None, tmp_path / "start")
    return tmp_path / "start"


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
def make_run(start: Path, tmp_path: Path) -> Callable[..., Run]:
    """A run of two steps from that checkpoint."""
    write_shard(tmp_path / "data" / "shard-0000", [episode(number) for number in range(4)])

    def made(**action: object) -> Run:
        return Run(
            name="cosmos", stage="action", data=(tmp_path / "data",), size="start", start=str(start),
            moment_every=1, bf16=False, optimisation=Optimisation(steps=2, batch=2, warmup_steps=1, ema=0.0),
            video=VideoLoss(pure_noise_share=1.0, mirror=0.0),
            action=ActionLoss(mirror=0.0, draws=2, lora_rank=2, **action),
        )  # fmt: skip

    return made


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


def replace_instruction(one: Recording, said: str) -> Recording:
    return replace(one, entry=replace(one.entry, instruction=said))


def test_the_estimate_counts_the_additions_that_training_makes(make_run, start: Path) -> None:
    from training.adaptation import adapt
    from training.estimate import lora_parameters

    model = load_checkpoint(start).model
    adapt(model, make_run(adaptation="lora"))
    made = sum(p.numel() for name, p in model.named_parameters() if ".lora_" in name)
    assert lora_parameters(model.config, 2) == made > 0
