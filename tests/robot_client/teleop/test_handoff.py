"""Handoffs both ways: aligned by the leader's rule, without a bump, refused with joint and difference (B26)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.layout import CHANNELS, JOINT_MASK, arm_of, index
from contract.teleop import Teleop
from robot_client.episodes.course import course_from
from robot_client.episodes.source import EpisodeSource
from robot_client.safety.limits import limits_of
from tests.robot_client.stage import HOME, PERIOD_NS, STATION, steady, told_of, travel
from tests.robot_client.teleop.scene import ROUNDING, STEP, Scene, away, moving, steps

FAR = away(left_joint2=0.8, left_joint3=0.8, right_joint2=0.8, left_gripper=-1.0)
"""B26: 0.8 rad on three joints, a gripper by 1.0."""
_quick = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _episode(scene: Scene) -> None:
    times = np.arange(0, 400) * PERIOD_NS
    course = course_from(times, away(right_joint1=-0.8) + 0.1 * np.sin(times / 1e9)[:, np.newaxis] * JOINT_MASK)
    scene.process.pilot.episode = EpisodeSource(course, limits_of(STATION.safety, PERIOD_NS / 1e9), 0.5)


def test_policy_to_hand_to_policy_to_replay_to_policy_never_steps() -> None:
    """B26: the follower ran at full speed to the leader's pose."""
    scene = Scene(FAR)
    _episode(scene)
    scene.run_until(lambda: scene.mode == "POLICY", 5.0)
    scene.run(0.5)
    for act, mode in (("teleop", "TELEOP"), ("engage", "POLICY"), ("replay", "REPLAY"), ("engage", "POLICY")):
        scene.hand_over(act, mode)
        assert scene.mode == mode
        scene.run(0.3)
    told = [tick for tick in scene.ticks if tick.told is not None]
    assert (steps(told) <= STEP + ROUNDING).all()
    assert travel(told) > 1.5
    assert {tick.source for tick in told} == {"hold", "policy", "teleop", "episode"}


def test_a_passive_leader_gets_the_follower_ramped_slowly_and_then_is_followed_exactly() -> None:
    scene = Scene(FAR, engage=False)
    ticks = scene.hand_over("teleop", "TELEOP")
    assert ticks[0].mode == "HANDOFF"
    assert (steps(ticks) <= STEP * STATION.teleop.ramp_share * 1.01 + ROUNDING).all(), (
        "at the ramp's share of the limit"
    )
    scene.run(0.2)
    np.testing.assert_allclose(scene.ticks[-1].told, FAR, atol=1e-6)
    scene.hand = lambda now_ns: FAR + 0.1 * np.sin(now_ns / 1e9) * JOINT_MASK
    scene.run(1.0)
    ticks = scene.run(3.0)
    np.testing.assert_allclose(told_of(ticks), [tick.asked for tick in ticks], atol=5e-3)
    assert travel(ticks) > 0.05


@pytest.mark.parametrize("start", ["IDLE", "POLICY"])
def test_too_far_is_refused_with_joint_and_difference_and_changes_nothing(start: str) -> None:
    scene = Scene(away(left_joint2=1.2), engage=start == "POLICY")
    scene.run(3.0)
    assert scene.mode == start
    scene.person("teleop")
    scene.run(0.1)
    assert scene.mode == start
    assert "left_joint2 of the leader is at 2.25" in scene.notice
    assert "to go" in scene.notice
    scene.hand = away(left_joint2=0.6)
    scene.hand_over("teleop", "TELEOP")


@pytest.mark.parametrize("rig_pose", [0.7, 1.05, 1.5])
@pytest.mark.parametrize("convention", ["sign", "half a turn"])
@pytest.mark.parametrize("joint", ["left_joint2", "right_joint1"])
def test_one_wrong_convention_is_refused_and_not_ramped_away(joint: str, convention: str, rig_pose: float) -> None:
    """B26: clipping hid that the two conventions differ."""
    place = index(joint)
    follower = HOME.copy()
    follower[place] = rig_pose
    leader = follower.copy()
    leader[place] = -rig_pose if convention == "sign" else rig_pose - np.pi
    scene = Scene(leader, engage=False, rules=Teleop(ramp_within_rad=3.2))
    scene.person("relax")
    scene.run(0.1)
    scene.rig.command(follower)
    scene.run(0.1)
    scene.person("enable")
    scene.run(0.1)
    scene.person("teleop")
    ticks = scene.run(1.0)
    assert scene.mode == "IDLE"
    assert joint in scene.notice
    assert convention in scene.notice
    assert travel(ticks) == 0.0


def test_a_leader_with_motors_comes_to_the_follower_which_stands_meanwhile() -> None:
    scene = Scene(FAR, align="leader", engage=False)
    start = FAR.copy()

    def comes(now_ns: int) -> np.ndarray:
        if scene.leader.goals and not scene.leader.goals[-1].free:
            start[:] += np.clip(scene.leader.goals[-1].pose - start, -0.005, 0.005) * JOINT_MASK
        return start

    scene.hand = comes
    ticks = scene.hand_over("teleop", "TELEOP")
    told = told_of(ticks)
    assert np.abs(told - HOME)[:, JOINT_MASK].max() <= STATION.teleop.tolerance_rad
    assert scene.leader.goals[-1].free, "let go once it was taken"
    np.testing.assert_array_equal(scene.leader.goals[0].pose, HOME)
    assert (steps(ticks) <= STEP * STATION.teleop.ramp_share * 1.01 + ROUNDING).all(), "its trigger has no motor"


def test_a_leader_with_motors_that_does_not_come_ends_in_hold_naming_the_joint() -> None:
    scene = Scene(away(right_joint3=0.5), align="leader", engage=False)
    scene.person("teleop")
    ticks = scene.run_until(lambda: scene.mode == "HOLD", STATION.teleop.align_s + 1.0)
    assert travel(ticks) == 0.0
    assert "right_joint3" in scene.reason
    assert "did not align" in scene.reason


_ACTS = ["teleop", "left", "right", "engage", "hold", "open", "close"]
_joint_change = st.lists(st.floats(-1.0, 1.0), min_size=14, max_size=14)


@_quick
@given(
    change=_joint_change,
    times=st.lists(st.floats(0.05, 1.0), min_size=2, max_size=5),
    acts=st.lists(
        st.sampled_from(["teleop", "left", "right", "engage", "hold", "open", "close"]), min_size=2, max_size=5
    ),
    hand_speed=st.floats(0.0, 3.0),
    align=st.sampled_from(["follower", "leader"]),
)
def test_no_told_step_is_above_a_normal_one_whatever_the_poses_and_moments_of_handoff(
    change: list[float], times: list[float], acts: list[str], hand_speed: float, align: str
) -> None:
    """B26: over leader and follower poses, handoffs during ramps and with chunks in flight, one arm or both."""
    lower, upper = STATION.safety.vectors("lower_rad", 0.0), STATION.safety.vectors("upper_rad", 1.0)
    pose = np.clip(HOME + np.array(change), lower, upper)
    scene = Scene(pose, align=align)  # type: ignore[arg-type]
    scene.hand = lambda now_ns: pose + 0.2 * np.sin(hand_speed * now_ns / 2e8) * JOINT_MASK
    for act, seconds in zip(acts, times, strict=False):
        if act in ("left", "right"):
            scene.person("teleop", act)
        elif act in ("open", "close"):
            scene.person("clutch", act)
        else:
            scene.person(act)
        scene.run(seconds)
    told = [tick for tick in scene.ticks if tick.told is not None]
    assert (steps(told) <= STEP + ROUNDING).all()
    changes = np.diff(told_of(told), n=2, axis=0) / (PERIOD_NS / 1e9) ** 2
    limit = np.where(JOINT_MASK, 12.0, 40.0)
    assert (np.abs(changes) <= limit + 1e-6).all(), "and no faster change of speed than allowed"


@_quick
@given(change=st.lists(st.floats(-0.9, 0.9), min_size=14, max_size=14), when_s=st.floats(0.0, 0.5))
def test_what_the_hand_asks_begins_where_the_arms_are_and_ramps_at_its_share(
    change: list[float], when_s: float
) -> None:
    """B26: the ramp itself, without the limiter's help: the first target is where told is."""
    lower, upper = STATION.safety.vectors("lower_rad", 0.0), STATION.safety.vectors("upper_rad", 1.0)
    scene = Scene(np.clip(HOME + np.array(change), lower, upper), engage=False)
    scene.run(when_s)
    scene.person("teleop")
    ticks = scene.run(1.0)
    asked = [tick.asked for tick in ticks if tick.asked is not None]
    if not asked:
        assert scene.notice
        return
    course = np.vstack([HOME, np.array(asked)])
    assert (np.abs(np.diff(course, axis=0)) <= STEP * STATION.teleop.ramp_share * 1.01 + ROUNDING).all()


def test_a_handoff_asked_for_twice_within_50_ms_and_during_the_ramp_begins_again_and_never_steps() -> None:
    """B26"""
    scene = Scene(FAR)
    scene.run_until(lambda: scene.mode == "POLICY", 5.0)
    for pause_s in (0.05, 0.4, 1.0):
        scene.person("teleop")
        scene.run(pause_s)
    scene.run_until(lambda: scene.mode == "TELEOP", 12.0)
    assert (steps([t for t in scene.ticks if t.told is not None]) <= STEP + ROUNDING).all()


def test_a_chunk_that_comes_after_the_hand_took_over_moves_nothing() -> None:
    """B13: mode change to teleop while a chunk is in flight; B26: no arm is commanded from two sources."""
    scene = Scene(lambda now_ns: scene.ticks[-1].told, script=steady(moving, 800_000_000), align="leader")
    scene.run_until(lambda: scene.mode == "POLICY", 6.0)
    asked = len(scene.link.asked)
    scene.run_until(lambda: len(scene.link.asked) > asked, 3.0)
    ticks = scene.hand_over("teleop", "TELEOP") + scene.run(3.0)
    assert not any(tick.chunk_id or tick.row >= 0 for tick in ticks)
    assert {tick.source for tick in ticks} == {"teleop"}
    assert scene.counters["refused_not_driving"] >= 1


def test_every_change_of_hands_is_in_the_ticks_with_its_cause() -> None:
    """B26: before and after row and cause are logged."""
    scene = Scene(HOME)
    scene.run_until(lambda: scene.mode == "POLICY", 5.0)
    scene.hand_over("teleop", "TELEOP")
    said = [(status.mode, status.source, status.reason) for status in scene.statuses]
    assert ("HANDOFF", "teleop", "teleop by a person") in said
    scene.run(0.2)
    said = [(status.mode, status.source, status.reason) for status in scene.statuses]
    assert ("TELEOP", "teleop", "the ramp to leader scripted is over") in said
    epochs = [tick.epoch for tick in scene.ticks]
    assert all(b >= a for a, b in itertools.pairwise(epochs))


def test_a_leader_hears_where_the_follower_is_before_it_leads() -> None:
    """Keys pressed before a handoff still moved the arm after it: the goal that makes a keyboard forget them was
    replaced by "free" in the same tick when both happened to stand together."""
    scene = Scene(HOME, align="leader", engage=False)
    scene.person("teleop")
    scene.run(0.02)
    assert scene.mode == "HANDOFF"
    assert scene.leader.goals and not any(goal.free for goal in scene.leader.goals)
    scene.run_until(lambda: scene.mode == "TELEOP", 1.0)
    assert scene.leader.goals[-1].free


@pytest.mark.parametrize("arm", ["left", "right"])
def test_one_arm_by_hand_while_the_policy_goes_on_with_the_other(arm: str) -> None:
    """B26: with one arm only; nobody commands an arm from two sources in one tick."""
    scene = Scene(HOME)
    scene.run_until(lambda: scene.mode == "POLICY", 5.0)
    scene.run(1.0)
    before = len(scene.records)
    ticks = scene.hand_over("teleop", "TELEOP", arm) + scene.run(4.0)
    other = "right" if arm == "left" else "left"
    word = ",".join(f"{side}={'teleop' if side == arm else 'policy'}" for side in ("left", "right"))
    assert {tick.source for tick in ticks} == {word}
    assert len(scene.records) > before + 5, "replans go on"
    rows = [tick.row for tick in ticks]
    assert all(0 <= b - a <= 1 for a, b in itertools.pairwise(rows)), "rows go on one by one"
    late = [tick for tick in ticks if tick.mode == "TELEOP"][50:]
    for tick in late:
        np.testing.assert_allclose(arm_of(tick.told, arm), arm_of(HOME, arm), atol=1e-6)
        expected = HOME + 0.005 * (tick.row + tick.fraction) * JOINT_MASK
        np.testing.assert_allclose(arm_of(tick.told, other), arm_of(expected, other), atol=1e-3)
    sent = scene.link.asked[-1]
    np.testing.assert_allclose(arm_of(sent.prefix, arm), np.tile(arm_of(HOME, arm), (len(sent.prefix), 1)), atol=1e-3)
    assert (steps([t for t in scene.ticks if t.told is not None]) <= STEP + ROUNDING).all()
    scene.hand_over("engage", "POLICY")
    scene.run(1.0)
    assert (steps([t for t in scene.ticks if t.told is not None]) <= STEP + ROUNDING).all()


def test_an_instruction_given_while_one_arm_is_in_hand_runs_no_old_row() -> None:
    """B13: the robot finished the old task's chunk."""
    scene = Scene(HOME)
    scene.run_until(lambda: scene.mode == "POLICY", 5.0)
    scene.hand_over("teleop", "TELEOP", "left")
    scene.person("instruction", "other")
    ticks = scene.run(5.0)
    words = {f"s/{o.epoch}/{o.sequence}": o.instruction for o in scene.link.asked}
    assert {words[tick.chunk_id] for tick in ticks if tick.chunk_id} == {"other"}
    assert scene.mode == "TELEOP"


def test_trouble_with_the_leader_of_one_arm_holds_both() -> None:
    scene = Scene(HOME)
    scene.run_until(lambda: scene.mode == "POLICY", 5.0)
    scene.hand_over("teleop", "TELEOP", "left")
    scene.leader.silent = True
    scene.run_until(lambda: scene.mode == "HOLD", STATION.teleop.leader_ms / 1e3 + 0.1)
    scene.run(0.5)
    assert travel(scene.run(1.0)) == 0.0
    assert "leader scripted is" in scene.reason


def test_one_arm_from_standing_leaves_the_other_one_standing() -> None:
    scene = Scene(away(left_joint1=-0.3), engage=False)
    ticks = scene.hand_over("teleop", "TELEOP", "left") + scene.run(0.5)
    np.testing.assert_array_equal(arm_of(told_of(ticks), "right"), np.tile(arm_of(HOME, "right"), (len(ticks), 1)))
    assert scene.source == "teleop"
    np.testing.assert_allclose(scene.ticks[-1].told[index("left_joint1")], HOME[index("left_joint1")] - 0.3, atol=1e-6)


def test_a_stale_leader_holds_and_its_return_moves_nothing_until_a_person_hands_over_again() -> None:
    """B14"""
    scene = Scene(lambda now_ns: HOME + 0.2 * np.sin(now_ns / 1e9) * JOINT_MASK, engage=False)
    scene.hand_over("teleop", "TELEOP")
    scene.run(1.0)
    scene.leader.silent = True
    begun_ns = scene.clock.now_ns()
    ticks = scene.run_until(lambda: scene.mode == "HOLD", 0.4)
    assert ticks[-1].stamp_ns - begun_ns <= (STATION.teleop.leader_ms + 20) * 1e6
    scene.leader.silent = False
    scene.run(0.5)
    assert travel(scene.run(2.0)) == 0.0
    scene.hand_over("teleop", "TELEOP")


def test_the_dead_man_holds_when_it_is_let_go_and_no_handoff_begins_without_it() -> None:
    scene = Scene(HOME, rules=Teleop(dead_man=True), engage=False)
    scene.leader.dead_man = False
    scene.person("teleop")
    scene.run(0.1)
    assert (scene.mode, "dead-man" in scene.notice) == ("IDLE", True)
    scene.leader.dead_man = True
    scene.hand_over("teleop", "TELEOP")
    scene.leader.dead_man = False
    scene.run(0.05)
    assert (scene.mode, "dead-man" in scene.reason) == ("HOLD", True)


@pytest.mark.parametrize("by", ["person", "leader"])
def test_with_the_clutch_open_the_arms_stand_and_closed_again_they_are_ramped_to_the_hand(by: str) -> None:
    scene = Scene(HOME, engage=False)
    scene.hand_over("teleop", "TELEOP")
    scene.run(0.3)

    def clutch(closed: bool) -> None:
        if by == "person":
            scene.person("clutch", "close" if closed else "open")
        else:
            scene.leader.clutch = closed

    clutch(False)
    scene.run(0.1)
    scene.hand = away(left_joint2=0.7, right_joint3=-0.7)
    assert travel(scene.run(1.0)) == 0.0
    assert (scene.mode, scene.teleop.waiting) == ("TELEOP", "clutch open")
    clutch(True)
    ticks = scene.run(6.0)
    assert (steps(ticks) <= STEP * STATION.teleop.ramp_share * 1.01 + ROUNDING).all()
    np.testing.assert_allclose(scene.ticks[-1].told, scene.hand, atol=1e-6)
    clutch(False)
    scene.run(0.1)
    scene.hand = away(left_joint2=-0.9)
    clutch(True)
    assert travel(scene.run(1.0)) == 0.0, "too far: they wait for the leader"
    assert (scene.mode, "left_joint2" in scene.teleop.waiting) == ("TELEOP", True)


def test_a_leader_without_the_arm_is_refused_by_name_and_the_other_arm_alone_is_allowed() -> None:
    """B32 (a): one arm teleoperated while the other was dead; explicit single-arm mode is allowed."""
    pose = HOME.copy()
    arm_of(pose, "left")[:] = np.nan
    scene = Scene(pose, engage=False)
    scene.leader.trouble = "can_lead_l: no encoder 0x50E"
    scene.person("teleop")
    scene.run(0.1)
    assert scene.mode == "IDLE"
    assert "no left arm: can_lead_l: no encoder 0x50E" in scene.notice
    scene.hand_over("teleop", "TELEOP", "right")


@pytest.mark.parametrize("text", ["middle", "LEFT", "both arms"])
def test_an_unknown_arm_is_refused_with_the_known_ones(text: str) -> None:
    scene = Scene(HOME, engage=False)
    scene.person("teleop", text)
    scene.run(0.1)
    assert scene.mode == "IDLE"
    assert "both, left, right" in scene.notice


def test_what_was_not_given_is_refused_with_the_reason() -> None:
    scene = Scene(HOME, engage=False)
    for act, why in (("external", "external trajectory"), ("replay", "episode")):
        scene.person(act)
        scene.run(0.05)
        assert (scene.mode, why in scene.notice) == ("IDLE", True)


def test_an_intervention_is_labelled_from_the_handoff_until_the_policy_drives_again() -> None:
    """Ticks that a person corrects can be told from the others and trained on."""
    scene = Scene(HOME)
    scene.run_until(lambda: scene.mode == "POLICY", 5.0)
    assert not any(tick.intervention for tick in scene.ticks)
    both = scene.hand_over("teleop", "TELEOP") + scene.run(0.5)
    assert {tick.intervention for tick in both} == {3}
    back = scene.hand_over("engage", "POLICY")
    assert {tick.intervention for tick in back} == {0}
    left = scene.hand_over("teleop", "TELEOP", "left")
    assert {tick.intervention for tick in left} == {1}
    scene.person("hold")
    scene.run(0.3)
    again = scene.hand_over("teleop", "TELEOP", "right")
    assert {tick.intervention for tick in again} == {2}, "a hold in between belongs to it"
    scene.person("hold")
    scene.run(0.3)
    scene.person("release")
    scene.run(0.1)
    free = scene.hand_over("teleop", "TELEOP")
    assert {tick.intervention for tick in free} == {0}, "after a release it is teleoperation of its own"


def test_channel_names_in_refusals_are_the_layouts() -> None:
    scene = Scene(away(right_joint4=1.4), engage=False, rules=Teleop(ramp_within_rad=0.5))
    scene.person("teleop")
    scene.run(0.1)
    assert any(name in scene.notice for name in CHANNELS)


@pytest.mark.parametrize("act, mode, seconds", [("replay", "REPLAY", 0.5), ("replay", "HANDOFF", 0.0),
                                                ("teleop", "TELEOP", 0.5), ("home", "PARK", 0.1)])  # fmt: skip
def test_a_new_instruction_is_nothing_to_a_source_that_is_not_the_policy(act: str, mode: str, seconds: float) -> None:
    """An instruction typed during a replay began the replay anew; during teleoperation it aligned the hand anew and
    closed an open clutch, though the table of modes says that nothing changes."""

    def told(instruction: str) -> np.ndarray:
        scene = Scene(FAR, engage=False)
        _episode(scene)
        if act == "home":
            scene.hand_over("replay", "REPLAY")
        scene.hand = lambda now_ns: FAR + 0.1 * np.sin(now_ns / 1e9) * JOINT_MASK
        scene.hand_over(act, mode)
        scene.run(seconds)
        epoch = scene.process.pilot.state.epoch
        if instruction:
            scene.person("instruction", instruction)
        ticks = scene.run(1.0)
        assert scene.process.pilot.instruction == instruction
        assert scene.process.pilot.state.epoch >= epoch + bool(instruction), "older answers are void all the same"
        assert travel(ticks) > 0.01
        return told_of(ticks)

    np.testing.assert_array_equal(told("the next task"), told(""))


def test_a_new_instruction_leaves_an_open_clutch_open() -> None:
    """An instruction closed the clutch that a person had opened, and the arms moved."""
    scene = Scene(HOME, engage=False)
    scene.hand = lambda now_ns: HOME + 0.1 * np.sin(now_ns / 1e9) * JOINT_MASK
    scene.hand_over("teleop", "TELEOP")
    scene.person("clutch", "open")
    scene.run(0.5)
    scene.person("instruction", "the next task")
    assert travel(scene.run(2.0)) < 1e-3


def test_a_new_instruction_leaves_the_open_clutch_of_one_arm_beside_the_policy_open() -> None:
    """The policy begins anew then, and the hand with it: its open clutch was closed, and that arm moved."""
    scene = Scene(HOME)
    scene.hand = lambda now_ns: HOME + 0.1 * np.sin(now_ns / 1e9) * JOINT_MASK
    scene.run_until(lambda: scene.mode == "POLICY", 5.0)
    scene.hand_over("teleop", "TELEOP", "left")
    scene.person("clutch", "open")
    scene.run(1.0)
    scene.person("instruction", "the next task")
    left = arm_of(told_of(scene.run(3.0)), "left")
    assert np.abs(left - left[0]).max() < 1e-3


def test_a_clutch_opened_right_after_teleoperation_was_asked_for_is_open() -> None:
    """Both words in one tick: the takeover began after them and closed it again, while the screen said open."""
    scene = Scene(HOME, engage=False)
    scene.hand = lambda now_ns: HOME + 0.1 * np.sin(now_ns / 1e9) * JOINT_MASK
    scene.person("teleop")
    scene.person("clutch", "open")
    assert travel(scene.run(3.0)) < 1e-3
    scene.person("clutch", "close")
    assert travel(scene.run(3.0)) > 0.01
