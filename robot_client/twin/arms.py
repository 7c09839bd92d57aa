"""Motors, damping and finger pads of both arms, added to the station model.

Gains, armature, friction and solver numbers were tuned on this twin for stable grasps at a 5 ms step.
"""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from contract.layout import ARMS, GRIPPER_TRAVEL_M, JOINTS_PER_ARM, Arm
from robot_client.twin.contacts import PAD_BITS, SOLIMP, SOLREF

_KP: Final = 3.0 * np.array([120.0, 180.0, 180.0, 60.0, 40.0, 30.0])
_KV: Final = 1.5 * np.array([12.0, 16.0, 14.0, 5.0, 3.0, 2.0])
_FORCE: Final = (40.0, 40.0, 40.0, 15.0, 15.0, 15.0)
_ARMATURE: Final = (0.03, 0.04, 0.03, 0.01, 0.008, 0.006)
_DAMPING: Final = 0.5
_GRIPPER_KP: Final = 1500.0
_GRIPPER_KV: Final = 80.0
_GRIPPER_FORCE_N: Final = 25.0
_TIP_ARMATURE: Final = 0.2
_TIP_DAMPING: Final = 5.0
_PAD_FRICTION: Final = (2.0, 0.05, 0.001)

# In the tool-centre frame: y is the closing direction, z points out of the fingers. The meshes touch at y = 0.
_PAD: Final = ((0.0, 0.002, -0.009), (0.010, 0.002, 0.011))
_BEAM: Final = ((0.0, 0.0085, -0.040), (0.012, 0.003, 0.020))


def add_arms(spec: mujoco.MjSpec) -> None:
    """Turn the kinematic station into driven arms.

    Actuators come in the contract's order and are named after its channels.
    """
    for body in spec.bodies:
        body.gravcomp = 1.0
    for arm in ARMS:
        _add_motors(spec, arm)
        _add_gripper(spec, arm)
        _add_pads(spec, arm)
    for equality in spec.equalities:
        equality.solref = [SOLREF[0] / 2, SOLREF[1]]


def actuator_range(spec: mujoco.MjSpec, arm: Arm, number: int) -> tuple[float, float]:
    """Limits of a joint [rad], or of the gripper's slide [m] for number 7."""
    low, high = spec.joint(f"{arm}_joint{number}").range
    return float(low), float(high)


def _add_motors(spec: mujoco.MjSpec, arm: Arm) -> None:
    for i in range(JOINTS_PER_ARM):
        name = f"{arm}_joint{i + 1}"
        joint = spec.joint(name)
        joint.armature = _ARMATURE[i]
        _set_damping(joint, _DAMPING)
        _add_position(spec, name, name, _KP[i], _KV[i], _FORCE[i])


def _add_gripper(spec: mujoco.MjSpec, arm: Arm) -> None:
    """One motor drives joint7; the model's equality drags joint8 along."""
    for number in (7, 8):
        joint = spec.joint(f"{arm}_joint{number}")
        joint.range = [0.0, GRIPPER_TRAVEL_M]
        joint.armature = _TIP_ARMATURE
        _set_damping(joint, _TIP_DAMPING)
    _add_position(spec, f"{arm}_gripper", f"{arm}_joint7", _GRIPPER_KP, _GRIPPER_KV, _GRIPPER_FORCE_N)


def _add_position(spec: mujoco.MjSpec, name: str, joint: str, kp: float, kv: float, force: float) -> None:
    spec.add_actuator(
        name=name,
        target=joint,
        trntype=mujoco.mjtTrn.mjTRN_JOINT,
        gaintype=mujoco.mjtGain.mjGAIN_FIXED,
        biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        gainprm=[kp, *[0.0] * 9],
        biasprm=[0.0, -kp, -kv, *[0.0] * 7],
        forcelimited=True,
        forcerange=[-force, force],
    )


def _set_damping(joint: mujoco.MjsJoint, damping: float) -> None:
    """MuJoCo 4.0 made damping a polynomial of three coefficients; before, it was the linear one alone."""
    joint.damping = damping if np.ndim(joint.damping) == 0 else [damping, 0.0, 0.0]


def _add_pads(spec: mujoco.MjSpec, arm: Arm) -> None:
    """A pad and a beam per finger, fixed to the sliding tips but measured in the tool-centre frame."""
    site = spec.site(f"tcp_{arm}")
    for tip, side in (("left", 1.0), ("right", -1.0)):
        body = spec.body(f"{arm}_tip_{tip}")
        for part, (centre, half) in (("pad", _PAD), ("beam", _BEAM)):
            place = np.array(centre) * [1.0, side, 1.0]
            position, quaternion = _in_tip_frame(body, site, place)
            body.add_geom(
                name=f"{arm}_{tip}_{part}",
                type=mujoco.mjtGeom.mjGEOM_BOX,
                pos=position,
                quat=quaternion,
                size=half,
                mass=0.0,
                group=3,
                condim=4,
                priority=1,
                friction=_PAD_FRICTION,
                solref=SOLREF,
                solimp=SOLIMP,
                **PAD_BITS,
            )


def _in_tip_frame(
    tip: mujoco.MjsBody, site: mujoco.MjsSite, place: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A point of the tool-centre frame, and its orientation, in a tip's frame; both hang off the gripper body."""
    in_gripper, in_tip, inverse, quaternion = np.zeros(3), np.zeros(3), np.zeros(4), np.zeros(4)
    mujoco.mju_rotVecQuat(in_gripper, place, site.quat)
    mujoco.mju_negQuat(inverse, tip.quat)
    mujoco.mju_rotVecQuat(in_tip, in_gripper + site.pos - tip.pos, inverse)
    mujoco.mju_mulQuat(quaternion, inverse, site.quat)
    return in_tip, quaternion
