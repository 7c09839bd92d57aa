"""Stage 3 on imagined futures: what it starts from, what it is taught, what it logs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from policy_server.bundle import read_manifest
from policy_server.model import presets
from policy_server.model.checkpoint import load_checkpoint
from policy_server.model.config import ModelConfig
from policy_server.model.policy import build
from robot_client.twin.tasks import TASKS
from training.adopt import adopt
from training.data.library import Library
from training.looking import future_looking_loss, token_shares
from training.publish import set_strength
from training.run import Run
from training.stages.base import Chance
from training.stages.materials import by_pair, evenly
from training.start import starting_model, train

from .conftest import toy


def toy_foresight() -> ModelConfig:
    """The toy whose instruction reaches the head through one later frame alone."""
    base, whole = toy(), presets.foresight()
    latent = base.latent.model_copy(update={"frames": whole.latent.frames, "temporal": whole.latent.temporal})
    return base.model_copy(update={"name": "toy-foresight", "latent": latent, "text": base.text.model_copy(
        update={"reaches": "future"})})  # fmt: skip


@pytest.fixture
def foresight(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setitem(presets.PRESETS, "toy-foresight", toy_foresight)
    return run.model_copy(
        update={"size": "toy-foresight", "action": run.action.model_copy(update={"look_weight": 0.1})}
    )


@pytest.fixture(autouse=True)
def known_aims(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn demonstrations never close a hand."""
    monkeypatch.setattr("training.data.aims.aims_of", lambda _, moments: torch.rand(len(moments), 2, 2).numpy())


def test_a_run_logs_what_masking_and_rewording_the_future_cost(foresight: Run, tmp_path: Path) -> None:
    checkpoint = train(foresight, tmp_path / "a", "test", lambda line: None)
    last = json.loads((tmp_path / "a" / "log.jsonl").read_text().splitlines()[-1])
    told = {"action", "masked", "reworded", "looking", "video_pure", "video_pure_null", "unchanged"}
    assert {f"fresh_{name}" for name in told} <= last.keys()
    assert last["fresh_action"] != last["fresh_masked"]
    card = load_checkpoint(checkpoint).card
    assert card.feature_source == "generated" and set(card.guidance.trained_nulls) == {"language", "future"}


def test_with_the_instruction_cut_off_from_the_future_rewording_costs_nothing(
    foresight: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way from the words to the head leads through the later frames and nowhere else."""
    monkeypatch.setattr("policy_server.model.backbone.listen", lambda _, tokens, text, deaf: torch.zeros_like(tokens))
    train(foresight, tmp_path / "a", "test", lambda line: None, stop_at=3)
    last = json.loads((tmp_path / "a" / "log.jsonl").read_text().splitlines()[-1])
    assert last["fresh_action"] == last["fresh_reworded"]


def test_the_words_learn_from_the_action_loss(foresight: Run, tmp_path: Path) -> None:
    alone = foresight.model_copy(update={"action": foresight.action.model_copy(update={"joint_share": 0.0})})
    some = load_checkpoint(train(alone, tmp_path / "a", "test", lambda line: None, stop_at=3)).model
    more = load_checkpoint(train(alone, tmp_path / "a", "test", lambda line: None)).model
    assert not torch.equal(some.instruction.words.weight, more.instruction.words.weight)


def test_adopted_weights_are_those_of_the_source_wherever_they_fit() -> None:
    mine, theirs = build(toy_foresight(), 1), build(toy(), 2)
    assert adopt(mine, theirs) == ()
    own, given = mine.state_dict(), theirs.state_dict()
    assert torch.equal(own["latent.stem.0.weight"], given["latent.stem.0.weight"])
    assert torch.equal(own["head.reader.ask.weight"], given["head.reader.ask.weight"][:, -14:])
    times = own["backbone.dit.learnable_pos_embed.pos_emb_t"]
    assert torch.equal(times, given["backbone.dit.learnable_pos_embed.pos_emb_t"][[0, 4]])
    digest, whole = own["head.digest.0.weight"], given["head.digest.0.weight"]
    assert torch.equal(digest[:, -14:], whole[:, -14:]) and torch.equal(
        digest[:, :-14], whole[:, : digest.shape[1] - 14]
    )


def test_adopting_tells_what_did_not_fit() -> None:
    wider = toy().model_copy(update={"head": toy().head.model_copy(update={"width": 24})})
    left = adopt(build(toy(), 1), build(wider, 2))
    assert "head.out.weight" in left and "latent.stem.0.weight" not in left


def test_how_much_is_looked_at_the_future_is_no_matter_of_the_looking_loss() -> None:
    aims = torch.tensor([[[0.3, 0.7], [0.6, 0.2]]])
    count = toy().token_grid[1] * toy().token_grid[2]
    there = token_shares(aims, toy()).clamp_min(1e-6).log()[:, :, None].expand(-1, -1, 16, -1)
    logits = torch.cat([torch.zeros_like(there), there, there - 3], -1)
    loss = future_looking_loss(logits, aims, toy())
    assert loss < future_looking_loss(logits.roll(5, -1), aims, toy())
    louder = torch.cat([logits[..., :count] + 7, logits[..., count:]], -1)
    torch.testing.assert_close(future_looking_loss(louder, aims, toy()), loss)


def test_even_pairs_draw_a_rare_pair_as_often_as_a_common_one(drawn_data: Path) -> None:
    library = Library((drawn_data,))
    moments = library.moments(TASKS, working_only=False, validation=False)
    groups = by_pair(library, moments)
    assert sum(len(group) for group in groups) == len(moments)
    lonely = (groups[0][:1], *groups[1:])
    drawn = evenly(lonely, 1600, Chance(0, 0))
    share = float(np.isin(drawn, lonely[0]).mean())
    assert share == pytest.approx(1 / len(groups), abs=0.03)


def test_a_fresh_head_is_new_and_the_rest_is_that_of_the_start(foresight: Run, tmp_path: Path) -> None:
    start = train(foresight, tmp_path / "a", "test", lambda line: None, stop_at=1)
    fresh = starting_model(foresight.model_copy(update={"start": str(start), "fresh_head": True, "seed": 5}))
    old = load_checkpoint(start).model
    assert not torch.equal(fresh.head.out.weight, old.head.out.weight)
    assert torch.equal(fresh.latent.stem[0].weight, old.latent.stem[0].weight)


def test_a_head_of_another_policy_is_taken_over_and_nothing_else_of_it(foresight: Run, tmp_path: Path) -> None:
    start = train(foresight, tmp_path / "a", "test", lambda line: None, stop_at=1)
    other = train(foresight.model_copy(update={"seed": 9}), tmp_path / "b", "test", lambda line: None, stop_at=1)
    mixed = starting_model(foresight.model_copy(update={"start": str(start), "head_start": str(other)}))
    mine, theirs = (load_checkpoint(folder).model for folder in (start, other))
    assert torch.equal(mixed.head.out.weight, theirs.head.out.weight)
    assert torch.equal(mixed.latent.stem[0].weight, mine.latent.stem[0].weight)
    assert not torch.equal(mine.latent.stem[0].weight, theirs.latent.stem[0].weight)


def test_a_strength_becomes_the_default_of_a_bundle_and_nothing_else_changes(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).parents[2] / "bundles" / "trained-gate" / "policy.toml", tmp_path)
    before = read_manifest(tmp_path)
    after = set_strength(tmp_path, 0.4)
    assert (after.guidance.w_lang_max, after.guidance.w_plan_max, after.guidance.mode) == (0.4, 0.4, "adaptive")
    assert read_manifest(tmp_path) == after == before.model_copy(update={"guidance": after.guidance})
