"""The capsules contain the arm, its links are where the model has them, and pairs are the ones that can meet."""

from __future__ import annotations

from dataclasses import fields

import mujoco
import numpy as np
import pytest

from contract.arm_shape import LINKS, ArmShape, load_arm_shape
from contract.errors import StationError
from contract.layout import ARMS, joints_of
from contract.space import Obstacle
from contract.station import load_station
from robot_client.i2rt_paths import station_mjcf
from robot_client.safety.clearance import poses_of
from robot_client.safety.kinematics import link_frames, tool_centre
from robot_client.safety.space import FREE, Space, space_of
from robot_client.twin.capsules import PADDING_M, corners_of, distance_to_line

SECTION = load_station("twin").safety.space
EXAMPLE = load_station("yam_example").safety.space
SHAPE = load_arm_shape("yam_linear_4310")
SPACE_OF_TWIN = space_of(SECTION)
COUNT = len(SHAPE.capsules)
BODIES = {
    "base": ("base",),
    "link1": ("link1",),
    "link2": ("link2",),
    "link3": ("link3",),
    "link4": ("link4",),
    "link5": ("link5",),
    "gripper": ("gripper", "camera", "tip_left", "tip_right"),
}


@pytest.mark.parametrize("link", LINKS)
def test_every_mesh_lies_within_the_capsules_of_its_link_with_the_padding_to_spare(link: str) -> None:
    capsules = [c for c in SHAPE.capsules if c.link == link]
    for body in BODIES[link]:
        points = np.concatenate([part.reshape(-1, 3) for part in corners_of(link, body)])
        inside = np.zeros(len(points), bool)
        for capsule in capsules:
            ends = np.array([capsule.from_m, capsule.to_m])
            inside |= distance_to_line(points, ends) <= capsule.radius_m - PADDING_M + 1.1e-4
        assert inside.all()


def test_capsules_are_where_the_model_has_their_links() -> None:
    """Both arms, at a few poses; the right base stands where the model has it."""
    model = mujoco.MjModel.from_xml_path(str(station_mjcf()))
    data, space = mujoco.MjData(model), space_of(SECTION)
    for seed in range(5):
        target = np.random.default_rng(seed).uniform(-1.5, 1.5, 14)
        for arm in ARMS:
            for i, value in enumerate(joints_of(target, arm)):
                data.joint(f"{arm}_joint{i + 1}").qpos[0] = value
        mujoco.mj_kinematics(model, data)
        poses = poses_of(space, target[None, None])
        for side, arm in enumerate(ARMS):
            np.testing.assert_allclose(poses.tools[0, 0, side], data.site(f"tcp_{arm}").xpos, atol=3e-6)
            for i, capsule in enumerate(SHAPE.capsules):
                body = data.body(f"{arm}_{capsule.link}")
                ends = np.array([capsule.from_m, capsule.to_m]) @ body.xmat.reshape(3, 3).T + body.xpos
                np.testing.assert_allclose(poses.ends[0, 0, side * COUNT + i], ends, atol=3e-6)


def test_a_turned_base_turns_its_arm_about_the_vertical() -> None:
    right = SECTION.right.model_copy(update={"yaw_rad": np.pi / 2, "position_m": (1.0, 2.0, 0.5)})
    space = space_of(SECTION.model_copy(update={"right": right}))
    target = np.random.default_rng(3).uniform(-1, 1, 14)
    plain = poses_of(space_of(SECTION), target[None, None]).tools[0, 0, 1] - np.array(SECTION.right.position_m)
    tool = poses_of(space, target[None, None]).tools[0, 0, 1]
    np.testing.assert_allclose(tool, [1.0 - plain[1], 2.0 + plain[0], 0.5 + plain[2]], atol=1e-12)


def test_no_point_of_a_capsule_or_tool_is_further_from_a_joint_than_its_lever() -> None:
    space = space_of(SECTION)
    random, farthest = np.random.default_rng(5), np.zeros((COUNT + 1, 6))
    for _ in range(300):
        frames, origins = link_frames(random.uniform(-3, 3, 6))
        ends = space.ends @ np.swapaxes(frames[space.link], -1, -2) + origins[space.link][:, None]
        tool = np.broadcast_to(tool_centre(frames, origins), (1, 2, 3))
        for joint in range(6):
            moved = np.append(space.link, 6) > joint
            away = np.linalg.norm(np.concatenate([ends, tool]) - origins[joint + 1], axis=-1).max(axis=-1)
            farthest[:, joint] = np.where(moved, np.maximum(farthest[:, joint], away), 0.0)
    assert (farthest <= space.levers_m + 1e-12).all()
    turned = farthest > 0.0
    assert (farthest[turned] > 0.65 * space.levers_m[turned]).all(), "no lever is much longer than it need be"
    np.testing.assert_array_equal(space.levers_m[~turned], 0.0)
    np.testing.assert_array_equal(space.lever_m[:COUNT], space.levers_m[:-1].max(axis=1))
    assert (space.lever_m[:COUNT][space.link == 0] == 0.0).all()
    np.testing.assert_array_equal(space.lever_m[:COUNT], space.lever_m[COUNT : 2 * COUNT])
    assert (space.lever_m[2 * COUNT :] == 0.0).all()


def _links(numbers: np.ndarray) -> list[str]:
    return [f"{ARMS[n // COUNT]} {SHAPE.capsules[n % COUNT].link}" if n < 2 * COUNT else "fixed" for n in numbers]


def test_pairs_are_arm_and_arm_arm_and_obstacle_and_each_gripper_with_its_own_base() -> None:
    section = EXAMPLE.model_copy(update={"arm_to_arm_m": 0.03, "arm_to_station_m": 0.05})
    space = space_of(section)
    found = set(zip(_links(space.first), _links(space.second), strict=True))
    standing = ("base", "link1")
    expected = {(f"left {a}", f"right {b}") for a in LINKS for b in LINKS if not (a in standing and b in standing)}
    expected |= {(f"{arm} base", f"{arm} gripper") for arm in ARMS}
    expected |= {(f"{arm} {link}", "fixed") for arm in ARMS for link in LINKS if link not in standing}
    assert found == expected
    assert len(space.first) == len(set(zip(space.first, space.second, strict=True)))
    radius = np.array([c.radius_m for c in SHAPE.capsules])
    radius = np.concatenate([radius, radius, [section.obstacles[0].radius_m]])
    margin = np.where(space.second == 2 * COUNT, 0.05, 0.03)
    np.testing.assert_allclose(space.keep_m, radius[space.first] + radius[space.second] + margin)
    lines = np.concatenate([space.ends, space.ends, space.fixed])
    halves = np.linalg.norm(lines[:, 1] - lines[:, 0], axis=-1) / 2
    np.testing.assert_allclose(space.reach_m, space.keep_m + halves[space.first] + halves[space.second])


def test_the_order_of_a_shapes_capsules_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    def pairs(shape: ArmShape) -> set[tuple[str, str, float]]:
        monkeypatch.setattr("robot_client.safety.space.load_arm_shape", lambda _: shape)
        space = space_of(EXAMPLE)
        names = [f"{arm} {c.name}" for arm in ARMS for c in shape.capsules] + ["fixed"] * len(space.fixed)
        found = zip(space.first, space.second, space.keep_m, strict=True)
        return {(names[a], names[b], round(float(keep), 9)) for a, b, keep in found}

    assert pairs(SHAPE.model_copy(update={"capsules": SHAPE.capsules[::-1]})) == pairs(SHAPE)


def test_each_pair_belongs_to_the_arms_that_move_in_it() -> None:
    space = space_of(EXAMPLE)
    for first, second, (left, right) in zip(space.first, space.second, space.owners, strict=True):
        assert left == (first < COUNT or second < COUNT)
        assert right == (COUNT <= first < 2 * COUNT or COUNT <= second < 2 * COUNT)


def test_a_long_obstacle_is_cut_into_short_pieces_that_make_it_up() -> None:
    long = Obstacle(name="post", from_m=(0.0, 1.0, 0.0), to_m=(0.0, 1.0, 0.95), radius_m=0.02)
    short = Obstacle(name="peg", from_m=(1.0, 1.0, 0.0), to_m=(1.0, 1.0, 0.3), radius_m=0.04)
    point = Obstacle(name="ball", from_m=(2.0, 1.0, 0.0), to_m=(2.0, 1.0, 0.0), radius_m=0.05)
    space = space_of(SECTION.model_copy(update={"obstacles": (long, short, point)}))
    assert len(space.fixed) == 6
    np.testing.assert_allclose(space.fixed[:4, 0, 2], [0.0, 0.2375, 0.475, 0.7125])
    np.testing.assert_allclose(space.fixed[:4, 1, 2], [0.2375, 0.475, 0.7125, 0.95])
    np.testing.assert_allclose(space.fixed[:4, :, 1], 1.0)
    np.testing.assert_allclose(space.fixed[4], [(1.0, 1.0, 0.0), (1.0, 1.0, 0.3)])
    first = SHAPE.capsules[2].radius_m + SECTION.arm_to_station_m
    kept = {int(s): float(k) for f, s, k in zip(space.first, space.second, space.keep_m, strict=True) if f == 2}
    assert [kept[2 * COUNT + i] for i in (0, 3, 4, 5)] == pytest.approx([first + r for r in (0.02, 0.02, 0.04, 0.05)])


def test_levels_of_the_table_are_offset_margin_and_radius_and_its_normal_has_length_one() -> None:
    table = SECTION.table.model_copy(
        update={"normal": (0.0, 0.0006, 1.0003), "offset_m": 0.1, "tool_m": 0.02, "arm_m": 0.03}
    )
    space = space_of(SECTION.model_copy(update={"table": table}))
    assert np.linalg.norm(space.normal) == pytest.approx(1.0, abs=1e-15)
    assert space.tool_level_m == pytest.approx(0.12)
    kept = [SHAPE.capsules[i] for i in space.above_table]
    assert {c.name for c in kept} == {c.name for c in SHAPE.capsules if c.link not in ("base", "link1")} - {
        c.name for c in SHAPE.capsules if c.finger
    }
    np.testing.assert_allclose(space.arm_level_m, [0.13 + c.radius_m for c in kept])


def test_a_station_without_obstacles_has_only_the_arms() -> None:
    space = space_of(SECTION.model_copy(update={"obstacles": ()}))
    assert space.fixed.shape == (0, 2, 3) and space.second.max() < 2 * COUNT


def test_nothing_around_keeps_nothing() -> None:
    poses = poses_of(FREE, np.zeros((1, 1, 14)))
    assert poses.ends.shape == (1, 1, 0, 2, 3)
    assert np.isfinite(poses.tools).all()
    assert (FREE.lower_m == -np.inf).all() and (FREE.upper_m == np.inf).all() and FREE.tool_level_m == -np.inf
    np.testing.assert_array_equal(FREE.bases, [np.eye(4)] * 2)
    np.testing.assert_array_equal(FREE.normal, (0.0, 0.0, 1.0))
    np.testing.assert_array_equal(FREE.levers_m, SPACE_OF_TWIN.levers_m[-1:])


def test_the_arrays_of_nothing_around_are_those_of_a_station_but_without_a_capsule_or_pair() -> None:
    space = space_of(EXAMPLE)
    same = {"bases", "lower_m", "upper_m", "normal", "tool_level_m"}
    for name in (field.name for field in fields(Space)):
        empty, full = np.asarray(getattr(FREE, name)), np.asarray(getattr(space, name))
        assert empty.dtype == full.dtype
        left = 1 if name == "levers_m" else 0  # the tool centres, which are there without a capsule
        assert empty.shape == (full.shape if name in same else (left, *full.shape[1:])), name


def test_an_unknown_shape_lists_the_known_ones() -> None:
    with pytest.raises(StationError, match="yam_linear_4310"):
        space_of(SECTION.model_copy(update={"arm_shape": "octopus"}))
