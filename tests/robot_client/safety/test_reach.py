"""What is said to be out of reach is: a look finds nothing there; and nearly all steps of slow arms need no look."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from contract.layout import index, joints_of_both
from contract.station import load_station
from robot_client.safety import guard
from robot_client.safety.guard import judged
from robot_client.safety.limiter import limit
from robot_client.safety.limits import Limits, Told, limits_of, seeded
from robot_client.safety.present import Present, present
from robot_client.safety.reach import Reach, reach_of, tool_ways
from robot_client.safety.segments import between
from robot_client.safety.space import Space
from robot_client.safety.stopping import way_to_rest
from tests.robot_client.safety.sequences import heights, safe_poses, variants

STATION = load_station("twin")
LIMITS = limits_of(STATION.safety, 0.01)
SPACE = LIMITS.space
HOME = STATION.poses.home.vector()
NONE = np.zeros((1, 2, 6))


@cache
def _pool(name: str) -> np.ndarray:
    """Allowed poses, half of them those of many that are nearest to what they must keep away from."""
    limits, random = variants()[name], np.random.default_rng(3)
    pool = safe_poses(limits, random, 2000)
    nearest = np.argsort(np.min(list(heights(limits, pool).values()), axis=0))
    return np.concatenate([pool[nearest[:400]], pool[random.integers(0, len(pool), 400)]])


def _steps(name: str, limits: Limits) -> tuple[Told, Told, np.ndarray]:
    """States with steps of any speed, and targets."""
    random, position = np.random.default_rng(4), _pool(name)
    count = len(position)
    speed = random.uniform(-1, 1, position.shape) * limits.speed * random.uniform(0, 1, (count, 1)) ** 3
    after = position + speed * limits.period_s
    asked = position + random.normal(0, 1, position.shape) * random.uniform(0, 0.3, (count, 1)) ** 3
    return seeded(position), Told(after, speed, after), asked


@pytest.mark.parametrize("name", ["twin", "yam_example"])
@pytest.mark.parametrize("tool_speed_m_s", [0.05, 0.25, float("inf")])
def test_a_judgement_is_the_same_whether_or_not_everything_is_looked_at(
    name: str, tool_speed_m_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = replace(variants()[name], tool_speed_m_s=tool_speed_m_s)
    told, step, asked = _steps(name, limits)
    here, looked_at = present(limits.space, told.position), []

    rest, off, _ = way_to_rest(step, limits)
    sums = np.abs(joints_of_both(rest)).sum(axis=-1)
    turns = [joints_of_both(array) for array in (step.position - told.position, rest, asked - told.position)]

    def noted(space: Space, where: Present, *given: np.ndarray) -> Reach:
        for array, expected in zip(given, (*turns, np.square(sums / 2) / 8 + off), strict=True):
            np.testing.assert_allclose(array, expected, atol=1e-15)
        reach = reach_of(space, where, *given)
        looked_at.append(reach.any)
        return Reach(np.ones_like(reach.levels), np.ones_like(reach.pairs))

    def endless(space: Space, where: Present, *given: np.ndarray) -> np.ndarray:
        for array, expected in zip(given, turns[:2], strict=True):
            np.testing.assert_array_equal(array, expected)
        return np.full((len(asked), 3, 2), np.inf)

    quick = judged(told, step, asked, limits, here)
    monkeypatch.setattr(guard, "reach_of", noted)
    monkeypatch.setattr(guard, "tool_ways", endless)
    plain = judged(told, step, asked, limits, here)
    for field in ("step", "asked", "clips"):
        np.testing.assert_array_equal(getattr(quick, field), getattr(plain, field))
    assert plain.step.any() and plain.asked.any() and not plain.step.all()
    assert 0.1 < looked_at[0].mean() < 0.9


def test_slow_arms_need_no_look() -> None:
    told, looks = seeded(HOME), []
    for tick in range(300):
        asked = HOME + 0.1 * np.sin(tick / 60.0)
        verdict = limit(told, asked, told.position, LIMITS)
        step, ahead = (joints_of_both((to - told.position)[None]) for to in (verdict.told.position, asked))
        looks.append(reach_of(SPACE, present(SPACE, told.position[None]), step, NONE, ahead, NONE[..., 0]).any[0])
        told = verdict.told
    assert not any(looks)


def _only(**what: object) -> Space:
    """The twin's arms with nothing to keep away from but what is given."""
    nothing = {"lower_m": np.full(3, -np.inf), "upper_m": np.full(3, np.inf), "tool_level_m": -np.inf}
    nothing |= {"arm_level_m": np.full(len(SPACE.above_table), -np.inf)}
    pairs = {name: getattr(SPACE, name)[:0] for name in ("first", "second", "keep_m", "reach_m", "owners")}
    return replace(SPACE, **(nothing | pairs | what))


def _clear(space: Space, arm: int = 0, joint: int = 0, **turns: float) -> bool:
    """With one joint turned by that much, at home."""
    given = {name: np.zeros((1, 2, 6)) for name in ("step", "way", "asked", "bow")}
    for name, angle in turns.items():
        given[name][0, arm, joint] = angle
    bow = given["bow"].sum(axis=-1)
    here = present(space, HOME[None])
    return not reach_of(space, here, given["step"], given["way"], given["asked"], bow).any[0]


def _used_up(space: Space, height_m: float, lever_m: float, arm: int = 0, joint: int = 0) -> None:
    """All ways of coming nearer are clear until the height is used up, and not beyond."""
    angle, most = height_m / lever_m, height_m / float(SPACE.lever_m.max())
    for sign in (-1.0, 1.0):
        for turns in ({"step": 1.0}, {"way": 1.0}, {"step": 0.4, "way": 0.6}, {"asked": 1.0}):
            turned = {name: sign * share * angle for name, share in turns.items()}
            assert _clear(space, arm, joint, **{name: 0.999 * turn for name, turn in turned.items()})
            assert not _clear(space, arm, joint, **{name: 1.001 * turn for name, turn in turned.items()})
    assert _clear(space, arm, joint, bow=0.999 * most) and not _clear(space, arm, joint, bow=1.001 * most)
    assert not _clear(space, arm, joint, bow=0.6 * most, step=0.6 * angle)
    # What was asked is another way, not a longer one.
    assert _clear(space, arm, joint, asked=0.9 * angle, step=0.9 * angle)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("arm", [0, 1])
def test_each_side_of_the_box_is_out_of_reach_until_a_tool_could_come_to_it(axis: int, arm: int) -> None:
    here = present(SPACE, HOME[None]).tools[0, arm, axis]
    for bound, sign in (("lower_m", -1.0), ("upper_m", 1.0)):
        edge = getattr(_only(), bound).copy()
        edge[axis] = here + sign * 0.1
        space = _only(**{bound: edge})
        other = present(SPACE, HOME[None]).tools[0, 1 - arm, axis]
        if sign * (edge[axis] - other) >= 0.0999:
            _used_up(space, 0.1, float(SPACE.levers_m[-1, 4]), arm, 4)
        else:
            assert not _clear(space), "the other tool is beyond it"


@pytest.mark.parametrize("arm", [0, 1])
def test_the_table_is_out_of_reach_until_a_tool_or_a_capsule_could_come_to_it(arm: int) -> None:
    here = present(SPACE, HOME[None])
    _used_up(_only(tool_level_m=float(here.tools[0, arm, 2]) - 0.1), 0.1, float(SPACE.levers_m[-1, 2]), arm, 2)
    count = len(SPACE.link)
    for number, capsule in enumerate(SPACE.above_table):
        levels = _only().arm_level_m.copy()
        levels[number] = float(here.ends[0, arm * count + capsule, :, 2].min()) - 0.1
        _used_up(_only(arm_level_m=levels), 0.1, float(SPACE.levers_m[capsule, 1]), arm, 1)


@pytest.mark.parametrize("spheres_tell", [True, False])
def test_a_pair_is_out_of_reach_until_both_could_come_together(spheres_tell: bool) -> None:
    here, count = present(SPACE, HOME[None]), len(SPACE.link)
    for chosen in range(0, len(SPACE.first), 7):
        pair = slice(chosen, chosen + 1)
        first, second = int(SPACE.first[chosen]), int(SPACE.second[chosen])
        distance = float(np.linalg.norm(between(here.ends[0, first], here.ends[0, second])))
        middle = here.ends[0].mean(axis=1)
        reach = float(np.linalg.norm(middle[first] - middle[second])) - 0.1 if spheres_tell else 1e6
        keep = -1e6 if spheres_tell else distance - 0.1
        space = _only(
            first=SPACE.first[pair],
            second=SPACE.second[pair],
            keep_m=np.array([keep]),
            reach_m=np.array([reach]),
            owners=SPACE.owners[pair],
        )
        for capsule in (first, second):
            moves = capsule < 2 * count and SPACE.link[capsule % count] > 0 and first // count != second // count
            if moves and not spheres_tell:
                _used_up(space, 0.1, float(SPACE.levers_m[capsule % count, 0]), capsule // count)
        assert _clear(space)


def test_both_arms_together_use_up_the_distance_between_them() -> None:
    pair = int(np.flatnonzero((SPACE.first == 9) & (SPACE.second == 9 + len(SPACE.link)))[0])
    here, levers = present(SPACE, HOME[None]), SPACE.levers_m[9]
    distance = float(np.linalg.norm(between(here.ends[0, 9], here.ends[0, 9 + len(SPACE.link)])))
    chosen = {name: getattr(SPACE, name)[[pair]] for name in ("first", "second", "owners")}
    space = _only(**chosen, keep_m=np.array([distance - 0.1]), reach_m=np.array([1e6]))
    for share, clear in ((0.499, True), (0.501, False)):
        turns = np.zeros((1, 2, 6))
        turns[0, :, 3] = share * 0.1 / levers[3]
        assert bool(reach_of(space, here, turns, NONE, NONE, np.zeros((1, 2))).any[0]) != clear


def test_what_is_broken_now_is_always_looked_at() -> None:
    assert _clear(SPACE)
    for broken in (_only(tool_level_m=10.0), _only(lower_m=np.full(3, 10.0)), _only(upper_m=np.full(3, -10.0))):
        assert not _clear(broken)


def test_rows_are_told_apart() -> None:
    """One pair of arms among others that is near to something does not make the others be looked at."""
    near = HOME.copy()
    near[index("left_joint2")] += 1.0
    here = present(SPACE, np.stack([HOME, near, HOME]))
    still = np.zeros((3, 2, 6))
    reach = reach_of(SPACE, here, still, still, still, still[..., 0])
    np.testing.assert_array_equal(reach.any, [False, True, False])
    np.testing.assert_array_equal(reach.levels, [False, True, False])
    some = reach.rows(np.array([1, 0]))
    np.testing.assert_array_equal(some.levels, [True, False])
    assert some.pairs.shape == (2, len(SPACE.first))


@pytest.mark.parametrize("seed", range(3))
def test_no_tool_moves_further_than_its_bound_and_slow_ones_little_less(seed: int) -> None:
    random = np.random.default_rng(seed)
    position = random.uniform(LIMITS.lower, LIMITS.upper, (400, 14))
    scale = 10.0 ** random.uniform(-4, -0.5, (400, 1))
    step, way = random.uniform(-1, 1, (2, 400, 14)) * scale
    places = [position, position + step, position + step + way / 2, position + step + way]
    tools = np.stack([present(SPACE, place).tools for place in places], axis=1)
    real = np.linalg.norm(np.diff(tools, axis=1), axis=-1)
    bound = tool_ways(SPACE, present(SPACE, position), joints_of_both(step), joints_of_both(way))
    assert (real <= bound + 1e-12).all()
    slow = scale[:, 0] < 1e-3
    assert slow.sum() > 50 and np.median(bound[slow] / real[slow]) < 1.02
    # What is added for the turn of the Jacobian is what the turns since then can have done, piece by piece.
    lever, turned, half = SPACE.levers_m[-1], np.abs(joints_of_both(step)), np.abs(joints_of_both(way)) / 2
    here = replace(present(SPACE, position), jacobian=np.zeros((400, 2, 3, 6)))
    flat = tool_ways(SPACE, here, joints_of_both(step), joints_of_both(way))
    np.testing.assert_allclose(flat[:, 0], turned.sum(axis=-1) * (turned @ lever) / 2)
    np.testing.assert_allclose(flat[:, 1], half.sum(axis=-1) * (turned @ lever + half @ lever / 2))
    np.testing.assert_allclose(flat[:, 2] - flat[:, 1], half.sum(axis=-1) * (half @ lever))
