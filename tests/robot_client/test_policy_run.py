"""The whole robot side on a fake clock: scripted chunks in, told targets out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from contract.errors import EngineError, VocabularyError
from contract.layout import JOINT_MASK, index
from contract.types import Observation
from robot_client.clock import NS_PER_MS, NS_PER_S, FakeClock
from robot_client.rigs.ideal import IdealRig
from robot_client.scripted_link import Reply
from tests.robot_client.stage import HOME, STATION, Stage, info, line, rows_run, station, steady, told_of, travel

JOINT = index("left_joint1")
THIRTIETH = NS_PER_S // 30
SPEED = np.where(JOINT_MASK, 1.5, 4.0)


def _moving(slope: float = 0.005) -> Callable[[Observation], np.ndarray]:
    """Rows that move all joints by `slope` each, on and on; grippers stay."""
    return lambda o: line(HOME, slope, o.first_row, 16 - len(o.prefix)) * JOINT_MASK + HOME * ~JOINT_MASK


def _resting(observation: Observation) -> np.ndarray:
    return np.tile(HOME, (16 - len(observation.prefix), 1))


def test_engaged_arms_follow_the_rows_of_chunks_that_came_over_the_link() -> None:
    stage = Stage(steady(_moving()))
    ticks = stage.run(6.0)
    assert stage.mode == "POLICY"
    running = [tick for tick in ticks if tick.mode == "POLICY"]
    assert len(running) > 500
    assert all(tick.chunk_id.startswith("s/") and tick.row >= 0 for tick in running)
    assert {tick.chunk_id for tick in running} <= {f"s/{r.epoch}/{r.sequence}" for r in stage.records}
    for tick in running:
        expected = HOME + 0.005 * (tick.row + tick.fraction) * JOINT_MASK
        assert tick.told is not None
        np.testing.assert_allclose(tick.told, expected, atol=2e-4)
    assert travel(ticks) > 0.2
    assert not any(name.startswith("clip_") for name in stage.counters)


def test_rows_rise_one_by_one_from_0_and_replans_come_every_few_rows() -> None:
    stage = Stage(steady(_moving()))
    ticks = stage.run(8.0)
    rows = rows_run(ticks)
    assert rows == list(range(len(rows)))
    assert len(stage.records) == pytest.approx(len(rows) / STATION.timing.replan_rows, abs=2)
    assert all(len(o.prefix) >= 2 for o in stage.link.asked[2:])
    assert [o.seed for o in stage.link.asked] == [o.sequence for o in stage.link.asked]


@pytest.mark.parametrize("max_prefix", [0, 8])
def test_only_rows_executed_during_an_answer_are_skipped(max_prefix: int) -> None:
    """B09: first answer after 700 ms, then 100 ms, once 2 s. The arm leapt 21 rows ahead from standstill (reported)."""
    base = HOME - 1.0 * (np.arange(14) == JOINT)

    def script(o: Observation, number: int) -> Reply:
        latency_ms = {0: 700, 12: 2000}.get(number, 100)
        slope = 0.01 * (np.arange(14) == JOINT)
        return Reply(latency_ms * NS_PER_MS, line(base, slope, o.first_row, 30 - len(o.prefix)))

    server = info(step_ns=THIRTIETH, horizon=30, max_prefix=max_prefix)
    at = station(grace_ms=3000.0, answer_budget_ms=2000.0)
    clock = FakeClock(NS_PER_S)
    stage = Stage(script, server, at, IdealRig(clock, base, at.cameras), clock)
    ticks = stage.run(8.0)  # further on safety keeps the arms apart
    assert stage.mode == "POLICY"
    rows = rows_run(ticks)
    assert rows == list(range(len(rows))), "a row was left out or came twice"
    assert len(rows) > 150
    running = [tick for tick in ticks if tick.row >= 0]
    at_rows = [next(tick.asked[JOINT] for tick in running if tick.row == row) for row in rows]
    assert np.abs(np.diff(at_rows)).max() <= 0.011 + 0.003, "one row, seen by a tick that may be one tick off"
    asked, told = (np.array([getattr(tick, name)[JOINT] for tick in running]) for name in ("asked", "told"))
    assert np.abs(np.diff(asked)).max() <= 0.011 * 0.3 + 1e-6
    assert np.abs(np.diff(told)).max() <= 0.011
    assert (np.diff(told) > -2e-3).all()
    assert stage.counters["standstills"] == 1
    assert told[-1] - base[JOINT] == pytest.approx(0.01 * rows[-1], abs=0.02)


def test_arms_at_rest_with_unchanging_images_replan_all_the_time() -> None:
    """B11: observations that looked like the last one were dropped, and no new chunk came for tens of seconds."""
    server = info(step_ns=THIRTIETH, horizon=30, max_prefix=8)
    stage = Stage(
        steady(lambda o: np.tile(HOME, (30 - len(o.prefix), 1)), 300 * NS_PER_MS), server, station(replan_rows=15)
    )
    ticks = stage.run(60.0)
    answered = np.array([record.answered_ns for record in stage.records])
    assert np.diff(answered).max() <= 0.8 * NS_PER_S
    assert len(answered) > 75
    started = next(i for i, tick in enumerate(ticks) if tick.row >= 0)
    assert all(tick.asked is not None for tick in ticks[started:])
    assert "ticks_without_plan" not in stage.counters


def _slow() -> Stage:
    """Answers take a second; the chunks are long enough for that."""
    rows = lambda o: line(HOME, 0.005, o.first_row, 40 - len(o.prefix)) * JOINT_MASK + HOME * ~JOINT_MASK  # noqa: E731
    return Stage(steady(rows, 1000 * NS_PER_MS), info(horizon=40), station(answer_budget_ms=1500.0))


def _pauses_in_flight(stage: Stage) -> None:
    """Runs until a request has been in flight for 0.2 s."""
    stage.run_until(lambda: stage.mode == "POLICY", 6.0)
    asked = len(stage.link.asked)
    stage.run_until(lambda: len(stage.link.asked) > asked, 6.0)
    stage.run(0.2)


@pytest.mark.parametrize("act", ["hold", "stop"])
def test_a_chunk_in_flight_at_a_pause_never_moves_the_arms(act: str) -> None:
    """B13: a late chunk restarted the motion after the pause; resumed, the first row must be asked for afterwards."""
    stage = _slow()
    _pauses_in_flight(stage)
    stage.person(act)
    stage.run(0.3)
    assert stage.mode == "HOLD"
    still = stage.run(5.0)
    assert travel(still) == 0.0
    assert {tick.row for tick in still} == {-1}
    resumed_ns = stage.clock.now_ns()
    stage.person("engage")
    moving = stage.run(5.0)
    first = next(tick for tick in moving if tick.row >= 0)
    assert first.row == 0
    asked = next(r for r in stage.records if f"s/{r.epoch}/{r.sequence}" == first.chunk_id)
    assert asked.asked_ns >= resumed_ns
    assert travel(moving) > 0.05


def test_rows_of_the_old_instruction_do_not_run_after_the_change() -> None:
    """B13: the robot finished the old task's chunk."""
    stage = _slow()
    _pauses_in_flight(stage)
    stage.person("instruction", "other")
    ticks = stage.run(6.0)
    words = {f"s/{o.epoch}/{o.sequence}": o.instruction for o in stage.link.asked}
    assert {words[tick.chunk_id] for tick in ticks if tick.chunk_id} == {"other"}
    assert stage.mode == "POLICY"
    assert travel(ticks) > 0.05


def test_two_changes_of_the_instruction_within_one_answer_run_only_the_last() -> None:
    """B13"""
    stage = _slow()
    _pauses_in_flight(stage)
    stage.person("instruction", "second")
    stage.run(0.1)
    stage.person("instruction", "third")
    ticks = stage.run(6.0)
    words = {f"s/{o.epoch}/{o.sequence}": o.instruction for o in stage.link.asked}
    assert {words[tick.chunk_id] for tick in ticks if tick.chunk_id} == {"third"}
    assert "second" in words.values(), "the second instruction was asked for and its answer not run"


def test_an_instruction_given_while_paused_moves_nothing_and_is_used_after_resuming() -> None:
    """B13"""
    stage = Stage(steady(_moving()))
    stage.run(3.0)
    stage.person("hold")
    stage.run(0.5)
    asked = len(stage.link.asked)
    stage.person("instruction", "later")
    assert travel(stage.run(3.0)) == 0.0
    assert (stage.mode, len(stage.link.asked)) == ("HOLD", asked)
    stage.person("engage")
    stage.run(2.0)
    assert {o.instruction for o in stage.link.asked[asked:]} == {"later"}


def test_answers_of_an_older_epoch_are_counted_as_refused() -> None:
    stage = _slow()
    _pauses_in_flight(stage)
    stage.person("instruction", "other")
    stage.run(1.5)
    assert stage.counters["refused_epoch"] == 1


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_one_bad_value_in_a_chunk_stops_both_arms_together_before_its_first_row(value: float) -> None:
    """B23: row 7, joint 3. Clamps turned NaN into an end stop, and the run was reported as a success."""

    def script(o: Observation, number: int) -> Reply:
        rows = _moving()(o)
        if number == 6:
            rows[7, index("left_joint3")] = value
        return Reply(100 * NS_PER_MS, rows)

    with np.errstate(over="ignore"):
        stage = Stage(script)
        ticks = stage.run(6.0)
    bad = next(o for i, o in enumerate(stage.link.asked) if i == 6)
    bad_id = f"s/{bad.epoch}/{bad.sequence}"
    assert stage.mode == "HOLD"
    assert "row 7, left_joint3" in stage.reason
    assert bad_id in stage.reason
    assert bad_id not in {tick.chunk_id for tick in ticks}
    assert stage.counters["refused_veto"] == 1
    told = told_of(ticks)
    assert np.isfinite(told).all()
    stopped = [int(np.flatnonzero(np.diff(told[:, i]))[-1]) for i in (index("left_joint3"), index("right_joint3"))]
    assert stopped[0] == stopped[1]
    assert travel(ticks) > 0.05
    assert any(status.mode == "HOLD" and "row 7" in status.reason for status in stage.statuses)


def test_targets_out_of_limits_are_limited_and_counted() -> None:
    """B23: 5 rad outside, on a station with nothing around the arms: there they come as far as the limits."""
    alone = STATION.model_copy(update={"safety": STATION.safety.model_copy(update={"space": None})})
    stage = Stage(steady(lambda o: np.tile(HOME + 5.0 * JOINT_MASK, (16 - len(o.prefix), 1))), at=alone)
    ticks = stage.run(10.0)
    upper = STATION.safety.vectors("upper_rad", 1.0)
    told = told_of(ticks)
    assert (told <= upper).all()
    np.testing.assert_allclose(told[-1][JOINT_MASK], upper[JOINT_MASK], atol=1e-6)
    assert stage.counters["clip_limit"] > 100


@pytest.mark.parametrize("away", [0.02, 0.8])
def test_the_first_row_is_reached_by_a_ramp_and_so_is_every_new_engagement(away: float) -> None:
    """B26: the follower ran at full speed to where the new source was."""
    stage = Stage(steady(lambda o: np.tile(HOME + away * np.sign(0.5 - HOME) * JOINT_MASK, (16 - len(o.prefix), 1))))
    told = [HOME]
    for act in ("", "hold", "engage", "engage", "hold", "engage"):
        if act:
            stage.person(act)
        told.extend(told_of(stage.run(0.7)))
    steps = np.abs(np.diff(np.array(told), axis=0)) / 0.01
    assert (steps <= SPEED * 0.55).all(), "no faster than the ramp's share of the limit"
    assert (np.abs(np.diff(steps, axis=0)) / 0.01 <= 12.0 + 1e-6).all()
    assert steps.max() > 0.01


def test_a_handoff_asked_for_twice_within_50_ms_begins_again_and_never_steps() -> None:
    """B26"""
    stage = Stage(steady(lambda o: np.tile(HOME - 0.5 * JOINT_MASK + 0.3, (16 - len(o.prefix), 1))))
    stage.run(0.4)
    stage.person("engage")
    stage.run(0.05)
    stage.person("engage")
    ticks = stage.run(4.0)
    assert (np.abs(np.diff(told_of(ticks), axis=0)) <= SPEED * 0.01 * 0.8 + 1e-9).all()
    assert stage.mode == "POLICY"
    assert rows_run([tick for tick in ticks[20:] if tick.row >= 0])[0] == 0


def test_a_late_plan_runs_its_valid_rows_and_then_brakes_to_hold_within_the_grace() -> None:
    stage = Stage(lambda o, number: Reply(100 * NS_PER_MS, _moving(0.02)(o)) if number < 5 else None)
    stage.run_until(lambda: stage.mode == "POLICY", 5.0)
    ticks = stage.run_until(lambda: stage.mode == "HOLD", 5.0)
    last_row = max(record.first_row + len(record.rows) - 1 for record in stage.records)
    assert max(rows_run(ticks)) == last_row
    due = next(tick for tick in ticks if tick.row == last_row)
    held = next(tick for tick in ticks if tick.mode == "HOLD")
    expired_ns = due.stamp_ns + 100 * NS_PER_MS
    assert 200 * NS_PER_MS <= held.stamp_ns - expired_ns <= 300 * NS_PER_MS
    assert held.told is not None
    after = stage.run(1.0)
    np.testing.assert_array_equal(told_of(after), np.tile(held.told, (len(after), 1)))
    assert "the plan ran out" in stage.reason


def test_a_plan_that_comes_within_the_grace_goes_on_where_the_arms_stand() -> None:
    at = station(answer_budget_ms=2000.0, grace_ms=300.0)
    stage = Stage(lambda o, n: Reply((1350 if n == 5 else 100) * NS_PER_MS, _moving(0.02)(o)), info(), at)
    ticks = stage.run(8.0)
    assert stage.mode == "POLICY"
    assert stage.counters["standstills"] == 1
    rows = rows_run(ticks)
    assert rows == list(range(len(rows)))


def test_the_server_coming_back_after_a_hold_moves_nothing() -> None:
    """B14: after the trouble the arms stay on hold until a person engages them again."""
    stage = Stage(lambda o, n: None if 5 <= n < 9 else Reply(100 * NS_PER_MS, _moving()(o)))
    stage.run_until(lambda: stage.mode == "HOLD", 10.0)
    stage.run(0.3)
    assert travel(stage.run(10.0)) == 0.0
    assert stage.mode == "HOLD"


def test_failed_requests_are_asked_again_and_the_plan_runs_on() -> None:
    def script(o: Observation, number: int) -> Reply:
        if number % 3 == 2:
            return Reply(30 * NS_PER_MS, EngineError("engine", got="a hiccup") if number % 2 else "newer one waiting")
        return Reply(100 * NS_PER_MS, _moving()(o))

    stage = Stage(script)
    ticks = stage.run(10.0)
    assert stage.mode == "POLICY"
    assert stage.counters["plan_failures"] == len(stage.failures) > 5
    assert {failure.code for failure in stage.failures} == {"engine", "skipped"}
    assert all(tick.asked is not None for tick in ticks if tick.mode == "POLICY")


def test_an_instruction_the_policy_does_not_know_holds_at_once_and_says_the_words() -> None:
    error = VocabularyError("instruction", expected="cube, bowl", got="teapot")
    stage = Stage(lambda o, n: Reply(20 * NS_PER_MS, error))
    stage.run(1.0)
    assert stage.mode == "HOLD"
    assert "teapot" in stage.reason
    assert len(stage.link.asked) == 1


def test_no_first_chunk_ends_the_handoff_in_hold_with_the_reason() -> None:
    stage = Stage(lambda o, n: Reply(20 * NS_PER_MS, EngineError("engine", got="out of memory")))
    ticks = stage.run(6.0)
    assert stage.mode == "HOLD"
    assert "out of memory" in stage.reason
    assert travel(ticks) == 0.0


def test_a_wrong_first_row_from_a_server_is_refused_and_the_next_question_comes() -> None:
    stage = Stage(lambda o, n: Reply(50 * NS_PER_MS, _moving()(o), first_row=o.first_row + 1 if n % 2 else None))
    stage.run(6.0)
    assert stage.counters["refused_first_row"] > 3
    assert stage.mode == "POLICY"


@pytest.mark.parametrize("horizon", [1, 2, 3])
def test_short_chunks_work(horizon: int) -> None:
    server = info(horizon=horizon, max_prefix=0)
    rows = lambda o: line(HOME, 0.005, o.first_row, horizon) * JOINT_MASK + HOME * ~JOINT_MASK  # noqa: E731
    stage = Stage(steady(rows, 40 * NS_PER_MS), server, station(replan_rows=1))
    ticks = stage.run(6.0)
    assert stage.mode == "POLICY"
    run = rows_run(ticks)
    assert run == list(range(len(run)))
    assert len(run) > 25


def test_old_images_plan_nothing_and_the_camera_is_named() -> None:
    stage = Stage(steady(_moving()))
    stage.run(2.0)
    frozen = {role: dataclasses.replace(frame) for role, frame in stage.rig.frames().items()}
    stage.rig.frames = lambda: {**type(stage.rig).frames(stage.rig), "top": frozen["top"]}  # type: ignore[method-assign]
    stage.run(4.0)
    assert stage.mode == "HOLD"
    assert "camera top" in stage.failures[-1].text
    assert "ms old" in stage.reason
