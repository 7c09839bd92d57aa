"""What goes into and comes out of the chunk buffer says what it must and cannot be changed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from robot_client.chunk_entry import Commitment, Entry, Refusal, RowTarget


def test_an_entry_that_was_refused_names_no_row_and_skipped_none() -> None:
    entry = Entry(Refusal.EPOCH, "epoch 1, now 2")
    assert (entry.row, entry.skipped) == (-1, 0)


def test_every_refusal_has_the_word_that_counters_carry() -> None:
    assert {refusal.value for refusal in Refusal} == {"epoch", "sequence", "first_row", "veto", "expired"}


@pytest.mark.parametrize(
    "value",
    [
        Entry(None, "", 3, 1),
        Commitment(1, 2, np.zeros((0, 14), np.float32)),
        RowTarget(np.zeros(14), 1, 0.5, "s/1/0", True),
    ],
)
def test_none_of_them_can_be_changed(value: object) -> None:
    for field in dataclasses.fields(value):  # type: ignore[arg-type]
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, 0)
