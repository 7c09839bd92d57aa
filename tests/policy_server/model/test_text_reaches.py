"""text.reaches = "future": the instruction comes to the head through the imagined future, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from policy_server.export.bundle import export_bundle
from policy_server.model.checkpoint import save_checkpoint
from policy_server.model.config import ModelConfig
from policy_server.model.graphs import examples
from policy_server.model.policy import VideoActionModel, build
from policy_server.model.presets import PRESETS
from policy_server.model.untrained import untrained_card, untrained_model
from tests.policy_server.model.nano import nano
from tests.policy_server.model.test_chunk_parity import check, pair


def config_of(reaches: str) -> ModelConfig:
    base = nano("read_once", attention="frame_causal", sigma=1.0, passes=0)
    return base.model_copy(update={"text": base.text.model_copy(update={"reaches": reaches})})


@pytest.fixture(scope="module")
def model() -> VideoActionModel:
    return build(config_of("future"), 2)


def features(model: VideoActionModel, text: Tensor) -> tuple[Tensor, Tensor]:
    """Of the current frame and of later ones."""
    given = examples(model.config)
    with torch.no_grad():
        every = model.backbone.features(given["latents"], given["timesteps"], text)
    current = model.config.token_grid[1] * model.config.token_grid[2]
    return every[:, :current], every[:, current:]


def test_the_current_frame_is_the_same_to_the_bit_whatever_is_said_and_later_frames_are_not(model: VideoActionModel):
    text = examples(model.config)["text"]
    (now, later), (now_other, later_other) = features(model, text), features(model, text + 1)
    assert torch.equal(now, now_other)
    assert (later - later_other).abs().max() > 1e-3


def test_not_hearing_is_hearing_the_null_instruction(model: VideoActionModel):
    hearing = build(config_of("everything"), 2)
    hearing.backbone.load_state_dict(model.backbone.state_dict())
    text = examples(model.config)["text"]
    torch.testing.assert_close(features(model, text)[0], features(hearing, 0 * text)[0], rtol=0, atol=1e-6)
    torch.testing.assert_close(features(model, 0 * text)[1], features(hearing, 0 * text)[1], rtol=0, atol=1e-6)


def test_with_the_future_masked_no_instruction_changes_what_the_head_reads(model: VideoActionModel):
    given = examples(model.config)
    read = []
    for text, keep in ((given["text"], 0.0), (given["text"] + 1, 0.0), (given["text"], 1.0), (given["text"] + 1, 1.0)):
        seen = torch.cat(features(model, text), 1)
        with torch.no_grad():
            read.append(model.head.context(seen, text, given["state"], torch.full((2,), keep))[0])
    assert torch.equal(read[0], read[1])
    assert (read[2] - read[3]).abs().max() > 1e-4


def test_a_lone_current_frame_gives_the_features_it_has_beside_a_future(model: VideoActionModel):
    given = examples(model.config)
    alone = model.backbone.features(given["latents"][:, :, :1], given["timesteps"][:, :1], given["text"])
    torch.testing.assert_close(alone, features(model, given["text"])[0], rtol=0, atol=1e-5)


def test_exported_graphs_agree_with_torch_and_the_manifest_says_who_hears(tmp_path: Path):
    config = config_of("future")
    save_checkpoint(untrained_model(3, config), untrained_card(config, 3, "twin", "a test"), tmp_path / "checkpoint")
    manifest = export_bundle(tmp_path / "checkpoint", tmp_path / "bundle")
    assert manifest.text.reaches == "future"
    check(pair(tmp_path / "bundle", tmp_path / "checkpoint"))


@pytest.mark.parametrize(("head", "attention"), [("read_once", "bidirectional"), ("flow_transformer", "frame_causal")])
def test_sizes_in_which_the_instruction_would_leak_are_refused(head: str, attention: str):
    base = nano(head, attention=attention)
    content = base.model_dump()
    content["text"]["reaches"] = "future"
    with pytest.raises(ValidationError, match=r"text\.reaches"):
        ModelConfig.model_validate(content)


def test_the_presets_are_valid():
    """`model_copy`, with which some are made, checks nothing."""
    for make in PRESETS.values():
        ModelConfig.model_validate(make().model_dump())
