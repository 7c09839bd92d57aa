"""Rows that must not reach an arm."""

from __future__ import annotations

import numpy as np
import pytest

from contract.errors import ActionError
from robot_client.safety.veto import PLAUSIBLE, checked_rows, checked_target

_BAD = [np.nan, np.inf, -np.inf, 1e300, -1e300]


@pytest.mark.parametrize("value", _BAD)
def test_one_bad_value_refuses_the_whole_chunk_and_names_row_and_joint(value: float) -> None:
    """B23: a NaN at row 7, joint 3 passed type checks, then a clamp made an end stop of it."""
    rows = np.zeros((30, 14))
    rows[7, 2] = value
    with pytest.raises(ActionError, match="row 7, left_joint3"):
        checked_rows(rows)
    with np.errstate(over="ignore"), pytest.raises(ActionError, match="row 7, left_joint3"):
        checked_rows(rows.astype(np.float32))


@pytest.mark.parametrize("value", [True, "nan", "0.1", None, [0.1], np.bool_(True)])
def test_a_value_that_is_no_number_refuses_the_chunk_and_names_row_and_joint(value: object) -> None:
    """B23: bool True and the text "nan" count as numbers for numpy."""
    rows: list[list[object]] = [[0.0] * 14 for _ in range(30)]
    rows[7][2] = value
    with pytest.raises(ActionError, match="row 7, left_joint3"):
        checked_rows(rows)


@pytest.mark.parametrize("array", [np.zeros((3, 14), bool), np.full((3, 14), "nan"), np.zeros((3, 14), object)])
def test_arrays_of_other_kinds_are_refused(array: np.ndarray) -> None:
    with pytest.raises(ActionError, match="rows"):
        checked_rows(array)


@pytest.mark.parametrize("shape", [(0, 14), (3, 13), (14,), (1, 3, 14)])
def test_rows_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ActionError, match="rows"):
        checked_rows(np.zeros(shape))


def test_the_first_of_several_bad_values_is_named() -> None:
    rows = np.zeros((4, 14))
    rows[1, 13], rows[2, 0], rows[3, 5] = np.nan, np.inf, 200.0
    with pytest.raises(ActionError, match="row 1, right_gripper"):
        checked_rows(rows)


def test_one_row_is_enough_and_the_bound_itself_passes_there_too() -> None:
    assert PLAUSIBLE == 100.0
    rows = np.full((1, 14), -100.0)
    np.testing.assert_array_equal(checked_rows(rows), rows)
    rows[0, 9] = np.nextafter(100.0, np.inf)
    with pytest.raises(ActionError, match="row 0, right_joint3"):
        checked_rows(rows)


@pytest.mark.parametrize("rows", [[[0.0] * 14, 1.0], [1.0, [0.0] * 14], [], [[]]])
def test_rows_that_are_only_partly_rows_are_refused(rows: object) -> None:
    with pytest.raises(ActionError):
        checked_rows(rows)


def test_a_channel_too_many_is_named_by_its_number() -> None:
    with pytest.raises(ActionError, match="row 0, value 14"):
        checked_rows([[0.0] * 14 + ["more"]])
    with pytest.raises(ActionError, match="target of right_gripper"):
        checked_target([0.0] * 13 + [None])


def test_a_long_value_is_shown_by_its_beginning() -> None:
    long = "x" * 300
    for call, values, shown in (
        (checked_rows, long, 60),
        (checked_target, [long], 60),
        (checked_rows, [[0.0] * 14, [0.0] * 13], 80),
    ):
        with pytest.raises(ActionError) as caught:
            call(values)  # type: ignore[operator]
        assert len(str(caught.value.got)) == shown


def test_ragged_rows_are_refused() -> None:
    with pytest.raises(ActionError, match="rows"):
        checked_rows([[0.0] * 14, [0.0] * 13])


def test_good_rows_come_back_as_float64_of_their_own() -> None:
    rows = np.linspace(-1, 1, 28, dtype=np.float32).reshape(2, 14)
    checked = checked_rows(rows)
    np.testing.assert_array_equal(checked, rows)
    assert checked.dtype == np.float64
    assert not np.shares_memory(checked, rows)
    np.testing.assert_array_equal(checked_rows(rows.tolist()), rows)


def test_the_bound_itself_passes_and_the_next_number_does_not() -> None:
    target = np.zeros(14)
    target[13] = PLAUSIBLE
    assert checked_target(target)[13] == PLAUSIBLE
    target[13] = np.nextafter(PLAUSIBLE, np.inf)
    with pytest.raises(ActionError, match="target of right_gripper"):
        checked_target(target)


@pytest.mark.parametrize("target", [np.zeros(13), np.zeros((1, 14)), [0.0] * 15, "home", None, 3.0])
def test_targets_of_another_form_are_refused(target: object) -> None:
    with pytest.raises(ActionError):
        checked_target(target)
