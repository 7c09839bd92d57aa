"""The baseline without video: it learns from pixels, is resumed like any run, and answers like any policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from contract.types import Observation
from training.cloning.command import train_cloner
from training.cloning.network import Cloner, Eye
from training.cloning.policy import ClonedPolicy
from training.run import Run

from .conftest import toy


@pytest.fixture(autouse=True)
def known_aims(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn demonstrations never close a hand."""
    places = np.random.default_rng(0).random((1000, 2, 2)).astype(np.float32)
    monkeypatch.setattr("training.data.aims.aims_of", lambda _, moments: places[: len(moments)])


@pytest.fixture
def cloning(run: Run) -> Run:
    return run.model_copy(update={"action": run.action.model_copy(update={"look_weight": 0.5}), "bf16": False})


def question(prefix: int, instruction: str = "put the red cube in the bin", seed: int = 3) -> Observation:
    rng = np.random.default_rng(seed)
    sides = {"top": 64, "left_wrist": 32, "right_wrist": 32}
    return Observation(
        session="s", epoch=0, sequence=0, stamp_ns=0, joints=rng.normal(size=14).astype(np.float32), joints_stamp_ns=0,
        images={role: rng.integers(0, 256, (side, side, 3), np.uint8) for role, side in sides.items()},
        image_stamps_ns=dict.fromkeys(sides, 0), instruction=instruction, seed=1, first_row=prefix,
        prefix=np.zeros((prefix, 14), np.float32), budget_ns=0, guidance="off",
    )  # fmt: skip


def test_a_keypoint_lies_where_its_map_is_bright() -> None:
    """Right and down from the top left, as the places that two keypoints are taught are given."""
    eye = Eye()
    with torch.no_grad():
        for part in (*eye.layers, *eye.films):
            part.weight.zero_()
            part.bias.zero_()
        for layer in eye.layers:
            middle = layer.kernel_size[0] // 2
            layer.weight[0, 0, middle, middle] = 1.0
        eye.maps.weight[:, 0] = 50.0
    picture = torch.zeros(1, 3, 64, 64)
    picture[0, 0, 16, 48] = 1.0
    points = eye(picture, torch.zeros(1, 64))
    assert points[0, 0].tolist() == pytest.approx([48.5 / 64, 16.5 / 64], abs=0.03)


def test_the_instruction_changes_what_is_answered() -> None:
    model = Cloner(toy()).eval()
    canvas, state = torch.zeros(1, 64, 96, 3, dtype=torch.uint8), torch.zeros(1, 14)
    one, other = (model(canvas, torch.tensor([[word, 0, 0]]), state)[0] for word in (1, 2))
    assert not torch.equal(one, other)


def test_a_resumed_clone_is_the_one_that_was_never_stopped(cloning: Run, tmp_path: Path) -> None:
    whole = ClonedPolicy(train_cloner(cloning, tmp_path / "a", "test"))
    train_cloner(cloning, tmp_path / "b", "test", stop_at=3)
    resumed = ClonedPolicy(train_cloner(cloning, tmp_path / "b", "test"))
    rows = [policy.replan(question(1), lambda: 0).rows for policy in (whole, resumed)]
    assert np.array_equal(*rows)


def test_a_clone_answers_from_the_first_free_row_on(cloning: Run, tmp_path: Path) -> None:
    policy = ClonedPolicy(train_cloner(cloning, tmp_path / "a", "test", stop_at=1))
    plain, later = (policy.replan(question(prefix), lambda: 0) for prefix in (0, 3))
    assert plain.rows.shape == (16, 14) and later.first_row == 3
    assert np.array_equal(plain.rows[3:], later.rows)
    assert "held out: red cube / bin" in policy.manifest.provenance.data
