"""A driver's thread that hangs is noticed by its readings, which stay the same object."""

from __future__ import annotations

from robot_client.leaders.advance import Advance


def test_a_reading_is_as_old_as_its_first_look_until_another_takes_its_place() -> None:
    advance, first, second = Advance(), [1.0], [1.0]
    assert advance.since_ns("left", first, 100) == 100
    assert advance.since_ns("left", first, 900) == 100, "an equal value is no news"
    assert advance.since_ns("left", second, 950) == 950
    assert advance.since_ns("left", first, 970) == 970


def test_parts_are_watched_each_for_itself() -> None:
    advance, reading = Advance(), [1.0]
    advance.since_ns(("left", 0), reading, 100)
    assert advance.since_ns(("left", 1), reading, 500) == 500
    assert advance.since_ns(("left", 0), reading, 600) == 100
