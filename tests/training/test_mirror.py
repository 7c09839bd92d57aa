"""The mirror image of the station is the station: kinematics and pictures agree."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from contract.layout import ARMS, arm_of
from robot_client.twin import gl
from robot_client.twin.layouts import Layout, Spot
from training.mirror import mirrored_canvases, mirrored_values, other_side

from .conftest import toy

MIDDLE_Y_M = -0.305


@given(st.lists(st.floats(-2, 2), min_size=14, max_size=14))
def test_mirroring_twice_changes_nothing(values: list[float]) -> None:
    once = torch.tensor(values)
    assert torch.equal(mirrored_values(mirrored_values(once)), once)


def test_mirrored_canvases_swap_the_wrists_and_flip_every_view() -> None:
    canvas = toy().canvas
    pictures = torch.randint(0, 256, (2, 5, canvas.height, canvas.width, 3), dtype=torch.uint8)
    turned = mirrored_canvases(pictures, canvas)
    assert torch.equal(turned[..., :64, :64, :], pictures[..., :64, :64, :].flip(-2))
    assert torch.equal(turned[..., :32, 64:, :], pictures[..., 32:, 64:, :].flip(-2))
    assert torch.equal(mirrored_canvases(turned, canvas), pictures)


@pytest.fixture(scope="module")
def twin():
    gl.choose()
    from robot_client.twin.cameras import Size
    from robot_client.twin.twin import make_twin

    made = make_twin({view.role: Size(view.width, view.height) for view in toy().canvas.views})
    yield made
    made.close()


def mirrored_spot(spot: Spot) -> Spot:
    return Spot(spot.x_m, 2 * MIDDLE_Y_M - spot.y_m, -spot.yaw_rad)


def mirrored_layout(layout: Layout) -> Layout:
    things, places = (
        {name: mirrored_spot(spot) for name, spot in part.items()} for part in (layout.things, layout.places)
    )
    return Layout(layout.seed, layout.task, next(arm for arm in ARMS if arm != layout.arm), things, places)


def test_mirrored_joints_put_the_other_arm_at_the_mirrored_place_and_pictures_agree(twin) -> None:
    rng = np.random.default_rng(0)
    layout = twin.reset(3)
    target = twin.world.positions()
    for arm in ARMS:
        arm_of(target, arm)[:6] += rng.uniform(-0.3, 0.3, 6)
    looked = []
    for chosen, goal in (
        (layout, target),
        (mirrored_layout(layout), mirrored_values(torch.from_numpy(target)).numpy()),
    ):
        twin.arrange(chosen)
        for _ in range(20):
            twin.advance(goal, 0.1)
        places = {arm: twin.world.tool_position(arm) for arm in ARMS}
        looked.append((places, {role: frame.image for role, frame in twin.frames().items()}))
    (places, pictures), (turned, reflected) = looked
    for arm, other in zip(ARMS, ARMS[::-1], strict=True):
        expected = places[arm] * [1, -1, 1] + [0, 2 * MIDDLE_Y_M, 0]
        np.testing.assert_allclose(turned[other], expected, atol=2e-3)
    for role, picture in pictures.items():
        difference = np.abs(picture[:, ::-1].astype(int) - reflected[other_side(role)])
        # The light comes from one side, so shades differ a little everywhere; edges differ by part of a pixel.
        assert difference.mean() < 12
        assert (difference.max(-1) > 60).mean() < 0.03
