"""When rows are due, to the nanosecond."""

from __future__ import annotations

import pytest

from robot_client.row_grid import RowGrid

GRID = RowGrid(1000, 100, 5)


def test_a_row_is_due_a_whole_number_of_steps_after_the_start() -> None:
    assert [GRID.due_ns(row) for row in (0, 1, 5)] == [1000, 1100, 1500]
    assert GRID.expires_ns() == 1600


@pytest.mark.parametrize(
    ("now_ns", "row", "fraction"),
    [
        (0, 0, 0.0),
        (999, 0, 0.0),
        (1000, 0, 0.0),
        (1025, 0, 0.25),
        (1099, 0, 0.99),
        (1100, 1, 0.0),
        (1475, 4, 0.75),
        (1500, 5, 0.0),
        (1550, 5, 0.0),
        (9999, 5, 0.0),
    ],
)
def test_the_newest_row_that_is_due_and_the_way_to_the_next(now_ns: int, row: int, fraction: float) -> None:
    assert GRID.row_at(now_ns) == row
    assert GRID.fraction_at(now_ns) == fraction


def test_a_grid_of_one_row_stands_on_it() -> None:
    one = RowGrid(1000, 100, 0)
    for now_ns in (0, 1000, 1050, 5000):
        assert (one.row_at(now_ns), one.fraction_at(now_ns)) == (0, 0.0)
    assert one.expires_ns() == 1100


def test_more_rows_in_time_change_no_row_s_time() -> None:
    for now_ns in (1000, 1499, 1500):
        assert GRID.extended(9, now_ns) == RowGrid(1000, 100, 9)


def test_a_grid_that_stood_still_goes_on_from_where_it_stood() -> None:
    """B09: no row is skipped for the time in which there was none."""
    later = GRID.extended(9, 1501)
    assert later == RowGrid(1001, 100, 9)
    later = GRID.extended(9, 4200)
    assert (later.row_at(4200), later.fraction_at(4200)) == (5, 0.0)
    assert later.row_at(4300) == 6
