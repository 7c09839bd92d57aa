"""Between the contract's values and the policy's normalised ones: state in, prefix in, rows out.

normalised = (value - offset) / scale. What a raw output means is declared per channel (B24):

- absolute: the target itself;
- delta: target minus the state measured at the start of the chunk, one base for all rows, never cumulative;
- velocity: row k is the speed [per s] at which the target goes from row k - 1 to row k; row -1 is the measured state.

A policy trained with 1 = closed works in its own gripper polarity throughout; the flip is on the way in and on the
way out, nowhere else (B25).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from contract.layout import GRIPPER_MASK
from contract.manifest import BundleManifest, Statistics


class Normaliser:
    """State, prefix and rows of one policy. Arithmetic is float64; what goes to a graph is float32."""

    def __init__(self, manifest: BundleManifest) -> None:
        action = manifest.action
        by_kind = {entry.kind: entry for entry in action.statistics}
        chosen = [by_kind[kind] for kind in action.kinds]
        self._offset = np.array([entry.offset[i] for i, entry in enumerate(chosen)])
        self._scale = np.array([entry.scale[i] for i, entry in enumerate(chosen)])
        self._delta = np.array([kind == "delta" for kind in action.kinds])
        self._velocity = np.array([kind == "velocity" for kind in action.kinds])
        self._flip = GRIPPER_MASK if action.gripper_closed_value == 1 else np.zeros_like(GRIPPER_MASK)
        self._step_s = manifest.head.step_ns * 1e-9
        self._state_offset, self._state_scale = _columns(manifest.state)

    def state(self, joints: NDArray) -> NDArray[np.float32]:
        """Measured joints (14,) -> normalised state (1, 14)."""
        normal = (self._polarity(joints) - self._state_offset) / self._state_scale
        return normal.astype(np.float32)[np.newaxis]

    def prefix(self, rows: NDArray, joints: NDArray) -> NDArray[np.float32]:
        """Committed absolute rows (P, 14) -> what the head would have given for them: the exact inverse of `rows`."""
        base = self._polarity(joints)
        targets = self._polarity(rows)
        raw = targets - np.where(self._delta, base, 0.0)
        if self._velocity.any() and len(rows):
            speed = np.diff(targets, axis=0, prepend=base[np.newaxis]) / self._step_s
            raw = np.where(self._velocity, speed, raw)
        return ((raw - self._offset) / self._scale).astype(np.float32)

    def rows(self, normal: NDArray, joints: NDArray) -> NDArray[np.float32]:
        """Normalised rows (H, 14) from model row 0 on -> absolute targets (H, 14) float32."""
        base = self._polarity(joints)
        raw = normal.astype(np.float64) * self._scale + self._offset
        targets = raw + np.where(self._delta, base, 0.0)
        if self._velocity.any():
            targets = np.where(self._velocity, base + np.cumsum(raw, axis=0) * self._step_s, targets)
        with np.errstate(over="ignore"):  # the caller refuses what is not finite, with the place named
            return self._polarity(targets).astype(np.float32)

    def _polarity(self, values: NDArray) -> NDArray[np.float64]:
        """Into the policy's gripper polarity or back: the same flip, 1 - value."""
        return np.where(self._flip, 1.0 - values, values).astype(np.float64, copy=False)


def _columns(statistics: Statistics) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.array(statistics.offset), np.array(statistics.scale)
