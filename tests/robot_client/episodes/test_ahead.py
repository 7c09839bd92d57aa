"""Pictures decoded ahead of their use."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from contract.errors import EpisodeError
from robot_client.episodes.formats.ahead import decoded_ahead
from robot_client.episodes.formats.entries import Entry, Instruction, Picture


def pictures(count: int, calls: list[str]) -> Iterator[Entry]:
    for number in range(count):
        yield Instruction(number, f"{number}")

        def rgb(number: int = number) -> np.ndarray:
            calls.append(threading.current_thread().name)
            return np.full((2, 2, 3), number, np.uint8)

        yield Picture(number, "top", rgb)


def test_order_and_pixels_stay_and_other_threads_decode() -> None:
    calls: list[str] = []
    found = list(decoded_ahead(pictures(50, calls), threads=2))
    assert [entry.stamp_ns for entry in found] == [number for number in range(50) for _ in range(2)]
    shown = [entry.rgb()[0, 0, 0] for entry in found if isinstance(entry, Picture)]
    assert shown == list(range(50)) and len(calls) == 50
    assert threading.current_thread().name not in calls


def test_only_a_few_pictures_are_decoded_before_they_are_used() -> None:
    """Reading never holds an episode in memory."""
    taken: list[int] = []

    def watched() -> Iterator[Entry]:
        for entry in pictures(100, []):
            taken.append(entry.stamp_ns)
            yield entry

    reading = decoded_ahead(watched(), threads=2)
    next(reading)
    assert max(taken) <= 7
    reading.close()  # type: ignore[attr-defined]


def test_a_picture_that_does_not_decode_is_raised_where_it_is_looked_at() -> None:
    def broken() -> np.ndarray:
        raise EpisodeError("an image", expected="a JPEG", got="noise")

    first, second = decoded_ahead([Picture(0, "top", broken), Instruction(1, "go")], threads=1)
    assert isinstance(second, Instruction) and isinstance(first, Picture)
    with pytest.raises(EpisodeError, match="noise"):
        first.rgb()
