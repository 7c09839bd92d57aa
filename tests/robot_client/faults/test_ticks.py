"""The rehearsal's judge: a row that should not have run is found, whatever is wrong with it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from robot_client.faults.rows import chunk_in, row_in, rows_for
from robot_client.faults.ticks import Ticks, largest_step_rad, moved_while_standing, stale_rows, steps_over_limit
from tests.robot_client.inject.test_mangle import question
from tests.robot_client.stage import HOME

N = 12


def sound() -> tuple[Ticks, dict[str, int]]:
    """Rows 3 to 6 of chunk 2 in three ticks each, without a fault."""
    rows = np.repeat(np.arange(3, 7), 3)
    fraction = np.tile([0.0, 1 / 3, 2 / 3], 4)
    told = np.tile(HOME, (N, 1))
    told[:, 6], told[:, 13] = 1e-3 * (rows + fraction), 1e-4 * 2
    stamps = np.arange(N) * 10_000_000
    ticks = Ticks(
        mode=np.full(N, "POLICY"), chunk=np.full(N, "s/5/2"), deadline_ns=stamps, stamp_ns=stamps + 1,
        skipped=np.zeros(N, np.int32), asked=told, told=told.copy(), row=rows, fraction=fraction,
        epoch=np.full(N, 5),
    )  # fmt: skip
    return ticks, {"s/5/2": 9, "s/5/1": 6}


def changed(ticks: Ticks, name: str, at: int, value: object) -> Ticks:
    values = getattr(ticks, name).copy()
    values[at] = value
    return dataclasses.replace(ticks, **{name: values})


def test_rows_carry_their_number_and_their_chunks() -> None:
    rows = rows_for(dataclasses.replace(question(7), first_row=7, joints=HOME.astype(np.float32)))
    np.testing.assert_allclose(row_in(rows), np.arange(7, 7 + len(rows)), atol=1e-3)
    np.testing.assert_allclose(chunk_in(rows), 7, atol=1e-2)
    assert np.abs(np.diff(rows[:, 0])).min() > 0.001, "the joints move"


def test_sound_ticks_are_not_blamed() -> None:
    ticks, lasts = sound()
    assert stale_rows(ticks, 5, lasts) == 0
    assert largest_step_rad(ticks) == 0.0
    assert steps_over_limit(ticks, np.full(14, 1.0), 0.01) == 0


@pytest.mark.parametrize(
    "what",
    ["row of another place", "values of another chunk", "row beyond its chunk", "chunk never answered", "older epoch"],
)
def test_each_kind_of_wrong_row_is_counted(what: str) -> None:
    ticks, lasts = sound()
    engaged = 5
    if what == "row of another place":
        ticks.asked[4, 6] += 2e-3
    elif what == "values of another chunk":
        ticks.asked[4, 13] = 1e-4 * 1
    elif what == "row beyond its chunk":
        lasts["s/5/2"] = 5
    elif what == "chunk never answered":
        ticks = changed(ticks, "chunk", 4, "s/5/3")
    else:
        engaged = 6
    assert stale_rows(ticks, engaged, lasts) >= 1


def test_the_way_to_the_next_answer_is_no_wrong_row() -> None:
    """Between the last row of one plan and the first of the next, targets lie between both."""
    ticks, lasts = sound()
    ticks.asked[11, 13] = 1e-4 * (2 + 2 * 2 / 3)
    assert stale_rows(ticks, 5, {**lasts, "s/5/4": 16}) == 0
    assert stale_rows(ticks, 5, lasts) == 1


def test_steps_above_the_limit_and_motion_at_rest_are_counted() -> None:
    ticks, _ = sound()
    ticks.told[6:, 0] += 0.03
    assert steps_over_limit(ticks, np.full(14, 1.0), 0.01) == 1
    assert largest_step_rad(ticks) == pytest.approx(0.03)
    assert steps_over_limit(changed(ticks, "skipped", 6, 3), np.full(14, 1.0), 0.01) == 0, "four periods have passed"
    held = dataclasses.replace(ticks, mode=np.full(N, "HOLD"))
    held.told[:] = HOME
    assert moved_while_standing(held) == 0
    held.told[8:, 0] += 1e-6
    assert moved_while_standing(held) == 1


def test_braking_into_a_hold_is_no_motion_at_rest() -> None:
    ticks, _ = sound()
    held = dataclasses.replace(ticks, mode=np.full(N, "HOLD"))
    held.told[:, 0] = np.minimum(np.arange(N), 5) * 1e-3
    held.told[:, 6] = 0.0
    assert moved_while_standing(held) == 0
