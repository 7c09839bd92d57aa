"""Watchdogs, each with its own clock: they bark in time, by name, into HOLD, and only a person goes on."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError

from contract.errors import RigError
from contract.layout import CHANNELS, JOINT_MASK, index
from contract.station import Station
from contract.watchdogs import SAG_RAD
from contract.watchdogs import Watchdogs as Limits
from robot_client.clock import NS_PER_MS
from robot_client.modes import Mode
from robot_client.safety.limits import Clip
from robot_client.watchdogs import (
    BlockedWatch,
    CameraWatch,
    ChunkWatch,
    DriverWatch,
    OperatorWatch,
    TrackingWatch,
    Watchdogs,
)
from tests.robot_client.stage import HOME, STATION, Stage, line, station, steady, travel

_FIELDS = ("chunk_ms", "camera_ms", "driver_ms", "blocked_ms", "tracking_rad", "tracking_ms", "operator_ms")


def _moving(o: object) -> NDArray:
    return line(HOME, 0.005, o.first_row, 16 - len(o.prefix)) * JOINT_MASK + HOME * ~JOINT_MASK  # type: ignore[attr-defined]


def _at(**limits: object) -> Station:
    return STATION.model_copy(update={"watchdogs": Limits(**limits)})  # type: ignore[arg-type]


def _running(at: Station = STATION) -> Stage:
    stage = Stage(steady(_moving), at=at)
    stage.run_until(lambda: stage.mode == "POLICY", 5.0)
    return stage


def _stays_held(stage: Stage) -> None:
    stage.run(0.4)
    assert stage.mode == "HOLD"
    assert travel(stage.run(0.5)) == 0.0


@pytest.mark.parametrize("field", _FIELDS)
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_limits_that_would_never_bark_are_refused(field: str, value: float) -> None:
    """B14: watchdog value 0, negative, NaN refused."""
    with pytest.raises(ValidationError):
        Limits(**{field: value})
    with pytest.raises(ValidationError):
        Limits(cameras_ms={"top": value})


@pytest.mark.parametrize(
    ("limits", "named"), [({"tracking_rad": 0.35}, "lead_rad"), ({"cameras_ms": {"roof": 100.0}}, "roof")]
)
def test_a_watchdog_that_could_not_bark_on_this_station_is_refused(limits: dict, named: str) -> None:
    changed = STATION.model_dump() | {"watchdogs": limits}
    with pytest.raises(ValidationError, match=named):
        Station.model_validate(changed)


def test_the_tracking_limit_is_above_the_sag_of_motors_under_gravity() -> None:
    with pytest.raises(ValidationError):
        Limits(tracking_rad=SAG_RAD)
    sagging = TrackingWatch(0.05, 100.0)
    assert all(not sagging.look(HOME, HOME - SAG_RAD, n * 10 * NS_PER_MS) for n in range(100))


@given(behind=st.floats(0.0, 0.5), joint=st.sampled_from([c for c in CHANNELS if "joint" in c]))
def test_tracking_barks_after_its_time_naming_the_joint_and_never_below_its_limit(behind: float, joint: str) -> None:
    watch, measured = TrackingWatch(0.15, 200.0), HOME.copy()
    measured[index(joint)] -= behind
    barks = [watch.look(HOME, measured, n * 10 * NS_PER_MS) for n in range(40)]
    first = next((n for n, why in enumerate(barks) if why), None)
    if HOME[index(joint)] - measured[index(joint)] > 0.15:
        assert first == 20
        assert joint in barks[20]
    else:
        assert first is None


def test_tracking_forgives_what_comes_along_in_time_and_grippers_that_close_on_things() -> None:
    watch = TrackingWatch(0.15, 200.0)
    late = HOME - 0.3 * JOINT_MASK
    assert not any(watch.look(HOME, late if n % 19 else HOME, n * 10 * NS_PER_MS) for n in range(200))
    gripping = HOME * JOINT_MASK
    assert not any(watch.look(HOME, gripping, (300 + n) * 10 * NS_PER_MS) for n in range(200))


@pytest.mark.parametrize("offset_ns", [0, 10**12, -(10**12)])
def test_a_driver_whose_stamps_stand_still_is_found_out_by_our_clock_whatever_they_say(offset_ns: int) -> None:
    watch = DriverWatch(100.0)
    for n in range(10):
        assert not watch.look(offset_ns + n, n * 50 * NS_PER_MS)
    assert not watch.look(offset_ns + 9, 550 * NS_PER_MS)
    assert "nothing new for 101 ms" in watch.look(offset_ns + 9, 551 * NS_PER_MS)


def test_a_camera_grows_old_although_nobody_reports_it_any_more_and_each_role_has_its_limit() -> None:
    watch = CameraWatch(500.0, {"top": 200.0})
    assert not watch.look(10**12)
    watch.heard({"top": 0, "left_wrist": 0}, 0)
    assert not watch.look(200 * NS_PER_MS)
    assert "camera top is 201 ms" in watch.look(201 * NS_PER_MS)
    watch.heard({"top": 10 * NS_PER_MS}, 450 * NS_PER_MS)
    assert not watch.look(500 * NS_PER_MS)
    assert "camera left_wrist" in watch.look(501 * NS_PER_MS)
    watch.forget()
    assert not watch.look(10**12)


def test_the_operator_is_asked_for_only_where_the_station_does() -> None:
    assert not OperatorWatch(None).look(10**15)
    watch = OperatorWatch(300.0)
    assert "ever" in watch.look(0)
    watch.heard(0)
    assert not watch.look(300 * NS_PER_MS)
    assert "301 ms" in watch.look(301 * NS_PER_MS)


def test_a_plan_is_too_old_by_the_age_of_what_it_answers() -> None:
    watch = ChunkWatch(1000.0)
    assert not watch.look(0, 10**15), "no plan yet"
    assert not watch.look(NS_PER_MS, 1001 * NS_PER_MS)
    assert "1001 ms" in watch.look(NS_PER_MS, 1002 * NS_PER_MS)


@pytest.mark.parametrize("mode", [Mode.HOLD, Mode.OFF, Mode.RELAXED, Mode.FALLING, Mode.FAULT])
def test_arms_that_are_held_or_let_go_are_not_watched(mode: Mode) -> None:
    dogs = Watchdogs(Limits(operator_ms=1.0))
    for n in range(200):
        assert not dogs.look(mode, n * 10 * NS_PER_MS, 5, HOME, HOME - 1.0, 5)


def test_an_arm_that_is_in_something_holds_within_its_time_and_stays_held_when_it_is_free_again() -> None:
    stage = _running(_at(tracking_rad=0.1, tracking_ms=200.0))
    joints = stage.rig.joints
    stuck = joints().positions.copy()
    stuck[index("right_joint2")] -= 0.2
    stage.rig.joints = lambda: dataclasses.replace(joints(), positions=stuck)  # type: ignore[method-assign]
    begun_ns = stage.clock.now_ns()
    ticks = stage.run_until(lambda: stage.mode == "HOLD", 0.5)
    assert 200 * NS_PER_MS <= ticks[-1].stamp_ns - begun_ns <= 230 * NS_PER_MS
    assert "right_joint2" in stage.reason
    assert stage.counters["watchdog_tracking"] == 1
    stage.rig.joints = joints  # type: ignore[method-assign]
    _stays_held(stage)


def test_a_driver_that_repeats_its_last_word_with_new_promises_holds() -> None:
    """B30: the last value repeated must not pass for news; its stamp lies in the future, so its age does not tell."""
    stage = _running()
    ahead = dataclasses.replace(stage.rig.joints(), stamp_ns=stage.clock.now_ns() + 10**12)
    stage.rig.joints = lambda: ahead  # type: ignore[method-assign]
    stage.run_until(lambda: stage.mode == "HOLD", STATION.watchdogs.driver_ms / 1e3 + 0.1)
    assert "driver" in stage.reason
    _stays_held(stage)


def test_a_camera_that_stands_still_lets_valid_rows_run_and_holds_by_its_own_clock() -> None:
    """Graded: nothing new is planned, the valid rows run, then the arms brake and hold; the camera is named."""
    at = _at(camera_ms=900.0)
    stage = _running(at.model_copy(update={"timing": station(camera_max_age_ms=300.0, grace_ms=3000.0).timing}))
    frozen = stage.rig.frames()["left_wrist"]
    frames = stage.rig.frames
    stage.rig.frames = lambda: {**frames(), "left_wrist": frozen}  # type: ignore[method-assign]
    ticks = stage.run_until(lambda: stage.mode == "HOLD", 3.0)
    held_ns = ticks[-1].stamp_ns - frozen.stamp_ns
    assert 900 * NS_PER_MS <= held_ns <= 1010 * NS_PER_MS
    assert "camera left_wrist" in stage.reason
    assert any(tick.row >= 0 and tick.stamp_ns - frozen.stamp_ns > 400 * NS_PER_MS for tick in ticks)
    stage.rig.frames = frames  # type: ignore[method-assign]
    _stays_held(stage)


def test_a_planner_that_stands_still_is_noticed_by_the_cameras_growing_old() -> None:
    stage = _running(_at(camera_ms=400.0))
    stage.planner.step = lambda timeout_s: None  # type: ignore[method-assign]
    stage.run_until(lambda: stage.mode == "HOLD", 0.7)
    assert "camera" in stage.reason


def test_rows_that_answer_too_old_an_observation_are_not_run_to_their_end() -> None:
    stage = _running(_at(chunk_ms=600.0))
    stage.link.submit = lambda *_, **__: 0  # type: ignore[method-assign]
    stage.run_until(lambda: stage.mode == "HOLD", 1.5)
    assert "the plan answers an observation" in stage.reason
    assert stage.statuses[-1].plan_left_ns == 0


def test_the_operators_terminal_must_be_heard_of_where_the_station_asks_for_it() -> None:
    stage = Stage(steady(_moving), at=_at(operator_ms=300.0))
    for _ in range(40):
        stage.run(0.1)
        stage.person("alive")
    assert stage.mode == "POLICY"
    ticks = stage.run_until(lambda: stage.mode == "HOLD", 0.5)
    assert len(ticks) <= 32
    assert "operator" in stage.reason
    stage.person("alive")
    _stays_held(stage)
    stage.person("engage")
    stage.run(0.1)
    assert stage.mode == "HANDOFF", "a person resumes"


def test_the_watchdogs_are_armed_during_the_ramp_to_the_first_action() -> None:
    """B14: armed also during the ramp."""
    far = HOME - 0.5 * JOINT_MASK + 0.3
    stage = Stage(steady(lambda o: np.tile(far, (16 - len(o.prefix), 1))), at=_at(operator_ms=200.0))
    stage.run_until(lambda: any(tick.row >= 0 for tick in stage.ticks), 0.2)
    assert stage.mode == "HANDOFF"
    stage.run_until(lambda: stage.mode == "HOLD", 0.3)
    assert "operator" in stage.reason


def test_an_arm_that_safety_lets_go_nowhere_is_named_with_the_reason_after_its_time() -> None:
    watch, still = BlockedWatch(1000.0), np.zeros(14)
    clips = np.zeros(14, np.uint16)
    clips[index("right_joint2")] = int(Clip.TABLE | Clip.SPEED)
    assert watch.look(clips, still, 0) == ""
    assert watch.look(clips, still, 999 * NS_PER_MS) == ""
    assert watch.look(clips, still, 1000 * NS_PER_MS) == "safety has let the right arm go nowhere for 1 s: TABLE"
    creeping = still.copy()
    creeping[index("right_joint1")] = 1e-3
    assert watch.look(clips, creeping, 1001 * NS_PER_MS) == "", "it goes on, if slowly"
    assert watch.look(clips, still, 1500 * NS_PER_MS) == ""
    watch.forget()
    assert watch.look(clips, still, 2600 * NS_PER_MS) == ""
    other = np.full(14, int(Clip.SPEED | Clip.LEAD | Clip.TOOL_SPEED), np.uint16)
    assert watch.look(other, still, 9000 * NS_PER_MS) == watch.look(other, still, 19000 * NS_PER_MS) == ""


def _into_the_table(o: object) -> NDArray:
    low = HOME + np.eye(14)[index("left_joint2")]
    return np.repeat(low[None], 16 - len(o.prefix), axis=0)  # type: ignore[attr-defined]


@pytest.mark.parametrize("again", [False, True])
def test_a_policy_that_asks_only_for_what_safety_forbids_does_not_keep_the_arms_for_ever(again: bool) -> None:
    """It stood in front of the table, in POLICY or on the way there, until somebody noticed."""
    stage = Stage(steady(_into_the_table), at=_at(blocked_ms=2000.0))
    waited = stage.run_until(lambda: stage.mode == "HOLD", 8.0)
    assert "let the left arm go nowhere for 2 s: TABLE" in stage.reason
    assert len(waited) * 10 >= 2000 and stage.counters["watchdog_blocked"] == 1
    _stays_held(stage)
    if again:
        stage.person("release")
        stage.person("engage")
        stage.run(0.1)
        assert len(stage.run_until(lambda: stage.mode == "HOLD", 8.0)) * 10 >= 2000, "the time counts anew"


def test_a_camera_that_cannot_be_read_holds_and_the_run_goes_on_when_it_is_back() -> None:
    """The planner ended on the first such error, and with it the run."""
    stage = _running()
    frames = stage.rig.frames

    def broken() -> dict:
        raise RigError("camera top", expected="a frame", got="another program's file")

    stage.rig.frames = broken  # type: ignore[method-assign]
    stage.run_until(lambda: stage.mode == "HOLD", 3.0)
    assert any("camera top" in failure.text for failure in stage.failures)
    assert "camera" in stage.reason
    _stays_held(stage)
    stage.rig.frames = frames  # type: ignore[method-assign]
    stage.run(0.3)
    stage.person("release")
    stage.person("engage")
    stage.run_until(lambda: stage.mode == "POLICY", 5.0)
    assert travel(stage.run(0.5)) > 0.0
