"""The layout file is the only one that knows an index; joints are matched by name (B21)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.errors import FieldError
from contract.layout import (
    ARMS,
    CHANNELS,
    GRIPPER_MASK,
    JOINT_MASK,
    SIZE,
    arm_of,
    from_named,
    gripper_of,
    joints_of,
    pack,
)


def test_masks_names_and_slices_agree() -> None:
    vector = np.arange(SIZE, dtype=float)
    assert [CHANNELS[i] for i in np.flatnonzero(GRIPPER_MASK)] == ["left_gripper", "right_gripper"]
    assert (JOINT_MASK ^ GRIPPER_MASK).all()
    rebuilt = pack(
        joints_of(vector, "left"), gripper_of(vector, "left"), joints_of(vector, "right"), gripper_of(vector, "right")
    )
    assert (rebuilt == vector).all()
    assert all(name.startswith(arm) for arm in ARMS for name in np.array(CHANNELS)[arm_of(np.arange(SIZE), arm)])


def test_slices_are_views_so_that_writing_through_them_works() -> None:
    vector = np.zeros(SIZE)
    joints_of(vector, "right")[:] = 1.0
    assert vector[JOINT_MASK].sum() == 6


@given(st.permutations(range(SIZE)))
def test_shuffled_names_give_the_same_vector(order: list[int]) -> None:
    """B21: a driver published joints in another order and the elbow's value was taken for the shoulder."""
    values = np.linspace(-1, 1, SIZE)
    assert (from_named([CHANNELS[i] for i in order], values[order]) == values).all()


def test_extra_joints_pass_only_when_declared() -> None:
    names, values = [*CHANNELS, "left_joint8"], np.zeros(SIZE + 1)
    assert from_named(names, values, frozenset({"left_joint8"})).shape == (SIZE,)
    with pytest.raises(FieldError, match="left_joint8"):
        from_named(names, values)


@pytest.mark.parametrize(
    ("names", "named"),
    [(CHANNELS[:-1], "right_gripper"), ((*CHANNELS, "left_joint1"), "left_joint1"), ((*CHANNELS, "wheel"), "wheel")],
)
def test_missing_double_and_unknown_joints_are_named(names: tuple[str, ...], named: str) -> None:
    with pytest.raises(FieldError, match=named):
        from_named(names, np.zeros(len(names)))
