"""How far leader and follower are apart, and whether the follower may be ramped over. Pure."""

from __future__ import annotations

from math import pi
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import CHANNELS, GRIPPER_MASK, JOINT_MASK, SIZE, Arm, arm_of
from contract.teleop import Teleop

_SAME_RAD: Final = 0.1
"""A leader this near to the follower's mirror image, or half a turn from it, is taken for a wrong convention."""
_FAR_RAD: Final = 0.3
"""Nearer than this, a mirror image and a small difference look alike."""


def mask_of(arms: tuple[Arm, ...]) -> NDArray[np.bool_]:
    """(14,) true where the channel belongs to one of the arms."""
    mask = np.zeros(SIZE, bool)
    for arm in arms:
        arm_of(mask, arm)[:] = True
    return mask


def apart(leader: NDArray, follower: NDArray, arms: tuple[Arm, ...], rules: Teleop, grippers: bool) -> str:
    """The channel furthest out of tolerance, in words; empty when leader and follower stand together."""
    tolerance = np.where(GRIPPER_MASK, rules.tolerance_gripper, rules.tolerance_rad)
    looked_at = mask_of(arms) & (JOINT_MASK | grippers)
    share = np.where(looked_at, np.abs(leader - follower) / tolerance, 0.0)
    worst = int(share.argmax())
    return "" if share[worst] <= 1.0 else difference(worst, leader, follower)


def ramp_refusal(leader: NDArray, follower: NDArray, arms: tuple[Arm, ...], rules: Teleop) -> str:
    """Why the follower is not ramped to this leader: a wrong convention, or too far. Empty = it may be.

    A joint that reads the follower's mirror image or is half a turn off is refused whatever the limit, because a ramp
    would hide that the calibration is wrong (B26). Grippers may always be ramped.
    """
    joints = mask_of(arms) & JOINT_MASK
    off = np.abs(leader - follower)
    mirrored = joints & (np.abs(leader + follower) < _SAME_RAD) & (off > _FAR_RAD)
    turned = joints & (np.abs(off - pi) < _SAME_RAD)
    for found, what in ((mirrored, "the sign"), (turned, "the offset, by half a turn,")):
        if found.any():
            worst = int(np.flatnonzero(found)[0])
            return f"{difference(worst, leader, follower)}: {what} of this leader's joint looks wrong in [teleop]"
    worst = int(np.where(joints, off, 0.0).argmax())
    if off[worst] > rules.ramp_within_rad:
        return f"{difference(worst, leader, follower)}; at most {rules.ramp_within_rad:g} is ramped: move the leader"
    return ""


def difference(channel: int, leader: NDArray, follower: NDArray) -> str:
    """One channel's difference in words."""
    way = follower[channel] - leader[channel]
    return (
        f"{CHANNELS[channel]} of the leader is at {leader[channel]:.2f}, the follower's at {follower[channel]:.2f}, "
        f"{way:+.2f} to go"
    )
