"""Aims lie where the hand closed and opened; the loss falls when attention lies on them; the mirror agrees."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from robot_client.twin import gl
from robot_client.twin.tasks import Task
from training.looking import looking_loss, mirrored_aims, token_shares

from .conftest import toy


@given(st.floats(0, 1), st.floats(0, 1))
def test_shares_sum_to_one_and_lie_in_the_top_view(right: float, down: float) -> None:
    shares = token_shares(torch.tensor([[[right, down]]]), toy())[0, 0]
    assert float(shares.sum()) == pytest.approx(1.0, abs=1e-5)
    centre = (shares.unflatten(0, (8, 12)).sum(0) * (torch.arange(12) + 0.5)).sum()
    assert float(centre) == pytest.approx(min(max(right * 8, 0.5), 11.5), abs=1e-4)


def test_attention_on_the_aim_costs_least_and_unknown_aims_cost_nothing() -> None:
    aims = torch.tensor([[[0.3, 0.7], [float("nan")] * 2]])
    shares = token_shares(aims.nan_to_num(0.5), toy())
    there = shares.clamp_min(1e-6).log()[:, :, None].expand(-1, -1, 16, -1)
    elsewhere = there.roll(5, -1)
    assert float(looking_loss(there, aims, toy())) < float(looking_loss(elsewhere, aims, toy()))
    assert float(looking_loss(there, torch.full((1, 2, 2), float("nan")), toy())) == 0.0


def test_mirroring_an_aim_twice_changes_nothing() -> None:
    aims = torch.rand(3, 2, 2)
    torch.testing.assert_close(mirrored_aims(mirrored_aims(aims)), aims)


def test_aims_are_at_the_object_and_then_at_the_receptacle() -> None:
    gl.choose()
    from robot_client.twin.cameras import Size
    from robot_client.twin.kinematics import Kinematics
    from robot_client.twin.twin import make_twin
    from training.data.aims import TopView, events
    from training.data.library import Demonstration
    from training.data.recorder import record
    from training.data.settings import TRAIN_SEEDS_FROM
    from training.data.shard import Shard

    canvas, task = toy().canvas, Task("red cube", "plate")
    twin = make_twin({view.role: Size(view.width, view.height) for view in canvas.views})
    made = record(twin, canvas, TRAIN_SEEDS_FROM, task, 0.0, stride=4)
    assert made is not None
    layout = twin.layout
    shard = Shard(None, made.frames, made.joints, made.targets, made.phases, (made.entry,))  # type: ignore[arg-type]
    when, points = events(Demonstration(shard, made.entry, 0), Kinematics(twin.world.model))
    assert len(when) == 2 and when[0] < when[1]
    thing, place = layout.things[task.object], layout.places[task.receptacle]
    assert np.hypot(points[0][0] - thing.x_m, points[0][1] - thing.y_m) < 0.01
    assert np.hypot(points[1][0] - place.x_m, points[1][1] - place.y_m) < 0.03
    seen = TopView(twin.world.model).project(np.array(points))
    red = made.frames[0][:64, :64].astype(int)
    down, right = (int(64 * share) for share in (seen[0][1], seen[0][0]))
    patch = red[max(down - 2, 0) : down + 3, max(right - 2, 0) : right + 3].reshape(-1, 3)
    assert (patch[:, 0] - patch[:, 1:].max(1)).max() > 60
    twin.close()
