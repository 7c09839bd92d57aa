"""Trajectories planned elsewhere: only what came after a person let them in, and never a leap."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from contract.errors import CodecError, FieldError
from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.mailbox import open_writer
from robot_client.modes import Event
from robot_client.rigs.base import JointReading
from robot_client.safety.limits import limits_of, seeded
from robot_client.sources.base import Moment
from robot_client.sources.external import (
    MAILBOX,
    MOST_POINTS,
    TRAJECTORY_BYTES,
    ExternalSource,
    pack_trajectory,
    unpack_trajectory,
)
from tests.robot_client.stage import HOME, STATION

NOW = 7 * NS_PER_S
LIMITS = limits_of(STATION.safety, 0.01)


def moment(now_ns: int = NOW, told: np.ndarray = HOME) -> Moment:
    return Moment(now_ns, seeded(told), JointReading(told, np.zeros(14), now_ns), 3)


def points(*values: tuple[float, float]) -> bytes:
    """Pairs of seconds and of what is added to home in every channel."""
    times = np.array([round(seconds * NS_PER_S) for seconds, _ in values], np.int64)
    return pack_trajectory(times, np.array([HOME + added for _, added in values]))


class Scene:
    """A source and the mailbox of whoever receives trajectories."""

    def __init__(self, folder: Path) -> None:
        self.mailbox = open_writer(folder / MAILBOX, TRAJECTORY_BYTES)
        self.source = ExternalSource(folder, LIMITS)

    def enter(self) -> None:
        """A person gives the arms to it."""
        self.source.begin(moment())
        assert self.source.ask(moment()).event is Event.TAKEN_BY_EXTERNAL
        self.source.continue_as(4)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_what_came_before_a_person_let_it_in_is_never_run(scene: Scene) -> None:
    scene.mailbox.put(points((0.0, 0.0), (1.0, 0.5)), NOW)
    scene.enter()
    assert scene.source.ask(moment(NOW + NS_PER_S)).values is None


def test_a_trajectory_runs_on_straight_lines_and_stands_at_its_end(scene: Scene) -> None:
    scene.enter()
    scene.mailbox.put(points((1.0, 0.1), (2.0, 0.3)), NOW)
    start = scene.source.ask(moment()).values
    assert start == pytest.approx(HOME), "the way to the first point begins at told"
    for seconds, added in ((0.5, 0.05), (1.0, 0.1), (1.5, 0.2), (2.0, 0.3), (60.0, 0.3)):
        assert scene.source.ask(moment(NOW + round(seconds * NS_PER_S))).values == pytest.approx(HOME + added)


def test_one_that_begins_elsewhere_is_reached_without_a_step(scene: Scene) -> None:
    scene.enter()
    scene.mailbox.put(points((0.0, 0.4), (0.5, 0.4)), NOW)
    asked = [scene.source.ask(moment(NOW + tick * 10 * NS_PER_MS)).values for tick in range(400)]
    steps = np.abs(np.diff(np.array(asked), axis=0))
    assert asked[0] == pytest.approx(HOME)
    assert asked[-1] == pytest.approx(HOME + 0.4)
    assert (steps.max(axis=0) <= LIMITS.speed * 0.01).all()


def test_the_newest_replaces_the_rest_of_the_one_before(scene: Scene) -> None:
    scene.enter()
    scene.mailbox.put(points((5.0, 1.0)), NOW)
    scene.source.ask(moment())
    half = HOME + 0.2
    scene.mailbox.put(points((1.0, 0.0)), NOW)
    assert scene.source.ask(moment(NOW + NS_PER_S, half)).values == pytest.approx(half)
    assert scene.source.ask(moment(NOW + 2 * NS_PER_S, half)).values == pytest.approx(HOME)


def test_joints_that_are_not_named_stay_where_they_are_told(scene: Scene) -> None:
    scene.enter()
    values = np.full((1, 14), np.nan)
    values[0, 2] = HOME[2] + 0.1
    scene.mailbox.put(pack_trajectory(np.array([NS_PER_S]), values), NOW)
    scene.source.ask(moment())
    asked = scene.source.ask(moment(NOW + NS_PER_S)).values
    assert asked == pytest.approx(HOME + 0.1 * (np.arange(14) == 2))


def test_bytes_that_are_no_trajectory_hold_the_arms(scene: Scene) -> None:
    scene.enter()
    scene.mailbox.put(b"\x02\0\0\0nothing", NOW)
    word = scene.source.ask(moment())
    assert word.values is None
    assert word.event is Event.WATCHDOG


@pytest.mark.parametrize(
    ("times", "shape"),
    [([], (0, 14)), ([2, 1], (2, 14)), ([1, 1], (2, 14)), ([-1], (1, 14)), ([601 * NS_PER_S], (1, 14)), ([1], (1, 7))],
)
def test_times_that_do_not_rise_and_wrong_shapes_are_refused(times: list[int], shape: tuple[int, int]) -> None:
    with pytest.raises(FieldError):
        pack_trajectory(np.array(times, np.int64), np.zeros(shape))


def test_an_infinite_target_and_too_many_points_are_refused() -> None:
    with pytest.raises(FieldError, match="finite"):
        pack_trajectory(np.array([1]), np.full((1, 14), np.inf))
    with pytest.raises(FieldError, match=str(MOST_POINTS)):
        pack_trajectory(np.arange(MOST_POINTS + 1), np.zeros((MOST_POINTS + 1, 14)))


def test_what_was_packed_is_unpacked_and_nothing_else() -> None:
    times, values = unpack_trajectory(points((0.0, 0.0), (1.0, 0.5)))
    assert times.tolist() == [0, NS_PER_S]
    assert values[1] == pytest.approx(HOME + 0.5)
    with pytest.raises(CodecError):
        unpack_trajectory(points((0.0, 0.0))[:-1])


@pytest.mark.parametrize(("times", "value"), [((5, 5), 0.0), ((7, 2), 0.0), ((0, 10**9), np.inf)])
def test_a_writer_that_checks_nothing_holds_the_arms_and_does_not_end_the_loop(
    times: tuple[int, int], value: float, scene: Scene
) -> None:
    """Points were checked by who packed them alone: an infinite target was an OverflowError in the control step."""
    scene.enter()
    values = np.tile(HOME + value, (2, 1))
    scene.mailbox.put(struct.pack("<I", 2) + np.array(times, "<i8").tobytes() + values.astype("<f8").tobytes(), NOW)
    said = scene.source.ask(moment())
    assert said.values is None and said.event is Event.WATCHDOG and "trajectory" in said.reason


def test_a_file_that_is_no_mailbox_holds_the_arms_and_does_not_end_the_loop(tmp_path: Path) -> None:
    (tmp_path / MAILBOX).write_bytes(b"something else")
    source = ExternalSource(tmp_path, LIMITS)
    source.begin(moment())
    source.ask(moment())
    assert source.ask(moment()).event is Event.WATCHDOG
