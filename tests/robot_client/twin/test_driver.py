"""What the arms do when told, told nothing, or asked to park: fake time."""

from __future__ import annotations

import numpy as np

from contract.layout import JOINT_MASK, SIZE, index
from robot_client.rigs.base import Stop
from robot_client.twin.driver import STALE_NS, Driver, State
from robot_client.twin.topics import Command
from robot_client.twin.twin import Twin
from robot_client.twin.world import park_pose

_STEP_NS = 5_000_000
_START_NS = 10_000_000_000


def _moved() -> np.ndarray:
    target = park_pose()
    target[JOINT_MASK] += 0.3
    return target


def _run(twin: Twin, driver: Driver, now_ns: int, seconds: float) -> int:
    for _ in range(round(seconds * 200)):
        now_ns += _STEP_NS
        driver.tick(now_ns)
        twin.world.step()
    return now_ns


def test_the_arms_hold_from_the_start_and_follow_a_fresh_command(twin: Twin) -> None:
    twin.reset(1)
    driver = Driver(twin.world)
    assert driver.state is State.HOLDING
    driver.take(1, _START_NS, Command(_moved(), None), _START_NS)
    assert driver.state is State.FOLLOWING
    _run(twin, driver, _START_NS, 0.5)
    np.testing.assert_allclose(twin.world.positions(), _moved(), atol=0.03)


def test_when_commands_stop_the_last_target_is_held(twin: Twin) -> None:
    """Case B14: the commander dies; the arms stay where they were last told, neither limp nor moving on."""
    twin.reset(1)
    driver = Driver(twin.world)
    driver.take(1, _START_NS, Command(_moved(), None), _START_NS)
    now_ns = _run(twin, driver, _START_NS, STALE_NS / 1e9)
    assert driver.state is State.FOLLOWING
    now_ns = _run(twin, driver, now_ns, 0.01)
    assert driver.state is State.HOLDING
    _run(twin, driver, now_ns, 1.0)
    np.testing.assert_allclose(twin.world.positions(), _moved(), atol=0.01)
    np.testing.assert_allclose(twin.world.velocities(), 0.0, atol=0.02)


def test_a_command_that_was_already_old_when_seen_moves_nothing(twin: Twin) -> None:
    """A command left in the mailbox by an earlier run must not move a fresh twin."""
    twin.reset(1)
    driver = Driver(twin.world)
    before = twin.world.target
    driver.take(7, _START_NS - STALE_NS - 1, Command(_moved(), None), _START_NS)
    assert (driver.state, driver.refused) == (State.HOLDING, 1)
    np.testing.assert_array_equal(twin.world.target, before)


def test_a_command_with_nan_is_counted_and_the_last_target_stays(twin: Twin) -> None:
    """Case B23."""
    twin.reset(1)
    driver = Driver(twin.world)
    driver.take(1, _START_NS, Command(_moved(), None), _START_NS)
    held = twin.world.target
    driver.take(2, _START_NS, Command(np.full(SIZE, np.nan), None), _START_NS)
    assert driver.refused == 1
    np.testing.assert_array_equal(twin.world.target, held)


def test_the_three_stops_are_different_and_a_new_target_powers_the_arms_again(twin: Twin) -> None:
    twin.reset(1)
    driver = Driver(twin.world)
    for number, (how, state) in enumerate(
        [(Stop.HOLD, State.HOLDING), (Stop.RELAX, State.RELAXED), (Stop.POWER_OFF, State.FALLING)], start=1
    ):
        driver.take(number, _START_NS, Command(np.zeros(SIZE), how), _START_NS)
        assert driver.state is state
    now_ns = _run(twin, driver, _START_NS, 0.3)
    fallen = twin.world.positions()[index("left_joint2")]
    driver.take(9, now_ns, Command(park_pose(), None), now_ns)
    _run(twin, driver, now_ns, 1.0)
    assert driver.state is State.HOLDING
    assert abs(twin.world.positions()[index("left_joint2")] - park_pose()[index("left_joint2")]) < 0.01
    assert abs(fallen - park_pose()[index("left_joint2")]) > 0.05


def test_parking_ends_in_the_park_pose_and_ignores_commands_on_the_way(twin: Twin) -> None:
    twin.reset(1)
    driver = Driver(twin.world)
    driver.take(1, _START_NS, Command(_moved(), None), _START_NS)
    now_ns = _run(twin, driver, _START_NS, 0.4)
    driver.park(now_ns)
    now_ns = _run(twin, driver, now_ns, 0.3)
    assert driver.state is State.PARKING
    driver.take(2, now_ns, Command(_moved(), None), now_ns)
    now_ns = _run(twin, driver, now_ns, 1.5)
    assert driver.state is State.PARKED
    np.testing.assert_allclose(twin.world.positions(), park_pose(), atol=0.01)
    driver.restart()
    driver.take(3, now_ns, Command(_moved(), None), now_ns)
    assert driver.state is State.FOLLOWING
