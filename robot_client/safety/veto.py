"""Vetoes: values that must never reach an arm are refused whole, and nothing is put in their place.

The gate sits after every transform: on whole chunks before their first row runs, and on every asked target of any
source.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import ActionError
from contract.layout import CHANNELS, SIZE

PLAUSIBLE: Final = 100.0
"""Absolute bound of a target [rad, gripper opening]. No joint turns 16 times; a larger number is a fault."""


def checked_rows(rows: object) -> NDArray[np.float64]:
    """The (R, 14) float64 rows of a chunk, R >= 1.

    Raises `ActionError` naming row and channel of the first value that is not finite, not plausible or not a number.
    """
    array = _numbers(rows, "rows", 2)
    if array.shape[0] < 1 or array.shape[1] != SIZE:
        raise _shape_fault("rows", f"(R, {SIZE}), R at least 1", array.shape)
    bad = ~(np.abs(array) <= PLAUSIBLE)
    if bad.any():
        row, channel = (int(i) for i in np.argwhere(bad)[0])
        raise _value_fault(f"row {row}, {CHANNELS[channel]}", array[row, channel])
    return array


def checked_target(target: object) -> NDArray[np.float64]:
    """The (14,) float64 target of one tick; raises `ActionError` naming the channel at fault."""
    array = _numbers(target, "target", 1)
    if array.shape != (SIZE,):
        raise _shape_fault("target", f"({SIZE},)", array.shape)
    bad = ~(np.abs(array) <= PLAUSIBLE)
    if bad.any():
        channel = int(np.argmax(bad))
        raise _value_fault(f"target of {CHANNELS[channel]}", array[channel])
    return array


def _numbers(values: object, what: str, axes: int) -> NDArray[np.float64]:
    array = values if isinstance(values, np.ndarray) else _from_python(values, what)
    if array.dtype.kind not in "fiu":
        raise ActionError(what, expected="numbers", got=f"{array.dtype} values", remedy="no arm moves on this")
    if array.ndim != axes:
        raise _shape_fault(what, f"{axes} axes", array.shape)
    return array.astype(np.float64)


def _from_python(values: object, what: str) -> NDArray[np.float64]:
    """Nested sequences, looked at value by value: numpy would turn True into 1.0 without a word."""
    if not isinstance(values, list | tuple):
        raise ActionError(what, expected="numbers", got=repr(values)[:60], remedy="no arm moves on this")
    if values and all(isinstance(row, list | tuple) for row in values):
        for i, row in enumerate(values):
            _require_numbers(row, f"row {i}, ")
    else:
        _require_numbers(values, f"{what} of ")
    try:
        return np.array(values, np.float64)
    except (ValueError, OverflowError) as error:
        raise ActionError(what, expected=f"{SIZE} numbers a row", got=str(error)[:80]) from error


def _require_numbers(values: Sequence[object], where: str) -> None:
    for i, value in enumerate(values):
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.floating | np.integer):
            channel = CHANNELS[i] if i < SIZE else f"value {i}"
            raise ActionError(where + channel, expected="a number", got=repr(value)[:60], remedy="no arm moves on this")


def _shape_fault(what: str, expected: str, got: tuple[int, ...]) -> ActionError:
    return ActionError(what, expected=f"shape {expected}", got=got, remedy="send rows in the contract's layout")


def _value_fault(where: str, value: float) -> ActionError:
    return ActionError(
        where,
        expected=f"a finite value within {PLAUSIBLE:g}",
        got=value,
        remedy="the whole chunk is refused; both arms hold",
    )
