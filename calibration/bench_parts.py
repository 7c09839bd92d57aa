"""What the bench measures on the twin, each part with the errors against the truth that only it and the tests read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from calibration import twin
from calibration.camera import Camera
from calibration.cell import Cell
from calibration.collect import collect
from calibration.eyes import Eye, bases, place
from calibration.intrinsics import Intrinsics, calibrate
from calibration.latency import arm_lag, camera_lag
from calibration.rigid import Matrix, difference, inverse, matrix
from calibration.views import View
from calibration.zero_check import found_zeros
from contract.layout import ARMS, Arm, index
from contract.station import load_station

Figures = dict[str, float]
Say = Callable[[str], None]
_RATE_HZ: Final = 30.0
_DELAYS_S: Final = ((0.035, 0.060), (0.020, 0.095), (0.080, 0.030))
"""Put into arms and cameras, by seed."""
_LARGEST_ZERO_RAD: Final = 0.04
_FOVY_DEG: Final = {"top": 36.0, "left_wrist": 70.0, "right_wrist": 70.0}
"""Of the station model's cameras, for the part that is about joints alone."""


def measured_eyes(views: int, seconds: float, seed: int, say: Say) -> Figures:
    """Lenses, places of all cameras, and the bases to each other."""
    rig = twin.make_rig()
    found = _views(rig, views, seed, say)
    truth = _truth(rig)
    rig.close()
    eyes: dict[tuple[str, str], Eye] = {}
    figures: Figures = {}
    lenses = {
        role: _lens([view for (r, _), views in found.items() if r == role for view in views]) for role, _ in found
    }
    for (role, side), own in found.items():
        mounting = "eye_to_hand" if role == "top" else "eye_in_hand"
        eyes[role, side] = place(twin.BOARD, lenses[role].camera, own, mounting)  # type: ignore[arg-type]
        metres, radians = difference(truth[role, side], eyes[role, side].result.x)
        kind = "top" if role == "top" else "wrist"
        _worse(figures, f"{kind}_mm", 1e3 * metres)
        _worse(figures, f"{kind}_deg", float(np.degrees(radians)))
        _worse(figures, "intrinsics_rms_px", lenses[role].rms_px)
        _worse(figures, "intrinsics_held_out_px", lenses[role].held_out_px)
    metres, radians = difference(truth["bases", ""], bases(eyes["top", "left"], eyes["top", "right"]))
    return {**figures, "base_mm": 1e3 * metres, "base_deg": float(np.degrees(radians))}


def measured_delays(views: int, seconds: float, seed: int, say: Say) -> Figures:
    """The arm's own lag is in both runs, so what is injected is what the second has more."""
    from robot_client.twin import gl

    gl.choose()  # before anything imports MuJoCo
    from robot_client.twin.timed import Delays

    arm_s, camera_s = _DELAYS_S[seed % len(_DELAYS_S)]
    delayed = Delays(command_ns=round(arm_s * 1e9), camera_ns=round(camera_s * 1e9))
    lags, figures = {}, {}
    for name, delays in (("none", Delays()), ("injected", delayed)):
        rig = twin.make_rig(delays)
        cell: Cell = twin.make_cell(rig, load_station("twin"), 200.0)
        rig.show("table")
        cell.go(twin.wrist_plan("left", 1, seed).start)
        lags[name] = arm_lag(cell, "left", seconds)
        say(f"arm, delay {name}: {lags[name]}")
        if name == "injected":
            camera = camera_lag(cell, twin.BOARD, "left_wrist", "left", seconds)
            say(f"camera, delay {name}: {camera}")
            figures["camera_latency_error_frames"] = abs(camera.seconds - camera_s) * _RATE_HZ
        rig.close()
    more_s = lags["injected"].seconds - lags["none"].seconds
    own_ms = 1e3 * lags["none"].seconds
    return {**figures, "arm_latency_error_ms": 1e3 * abs(more_s - arm_s), "arm_own_lag_ms": own_ms}


def measured_zeros(views: int, seconds: float, seed: int, say: Say) -> Figures:
    """Zeros of all joints of both arms, each off by up to 0.04 rad, with lenses as they are."""
    wrong = np.random.default_rng(seed).uniform(-_LARGEST_ZERO_RAD, _LARGEST_ZERO_RAD, 14)
    wrong[[index("left_gripper"), index("right_gripper")]] = 0.0
    rig = twin.make_rig(zero_rad=wrong.tolist())
    found = _views(rig, views, seed, say)
    rig.close()
    lenses = {role: true_lens(role) for role in _FOVY_DEG}
    every = [view for own in found.values() for view in own]
    zeros, _ = found_zeros(twin.BOARD, lenses, every, load_station("twin").safety.space)
    figures: Figures = {}
    for arm, joints in zeros.items():
        errors = {joint: zero.offset_rad - wrong[index(f"{arm}_joint{joint}")] for joint, zero in joints.items()}
        say(f"{arm} arm, zeros found less injected [mrad]: { {j: round(1e3 * e, 2) for j, e in errors.items()} }")
        for joint, error in errors.items():
            name = {1: "zero_joint1_mrad", 6: "zero_joint6_mrad"}.get(joint, "zero_joints2to5_mrad")
            _worse(figures, name, 1e3 * abs(error))
        _worse(figures, "zeros_not_seen", 6.0 - len(joints))
    return figures


def true_lens(role: str) -> Camera:
    """The pinhole that the twin draws with."""
    width, height = twin.SIZE_PX
    focal = height / 2 / np.tan(np.radians(_FOVY_DEG[role] / 2))
    return Camera(width=width, height=height, fx=focal, fy=focal, cx=(width - 1) / 2, cy=(height - 1) / 2)


def _views(rig: Any, views: int, seed: int, say: Say) -> dict[tuple[str, Arm], list[View]]:
    cell = twin.make_cell(rig, load_station("twin"))
    found: dict[tuple[str, Arm], list[View]] = {}
    for arm in ARMS:
        for plan in (twin.wrist_plan(arm, views, seed), twin.top_plan(arm, views, seed)):
            rig.show(twin.board_place(plan.role, arm))
            found[plan.role, arm] = collect(cell, twin.BOARD, plan, say=say)
    return found


def _lens(views: list[View]) -> Intrinsics:
    return calibrate(twin.BOARD, [view.sighting for view in views], *views[0].size)


def _truth(rig: Any) -> dict[tuple[str, str], Matrix]:
    def at(name: str) -> Matrix:
        body = rig.data.body(name)
        return matrix(body.xmat.reshape(3, 3), body.xpos)

    truth = {(f"{arm}_wrist", str(arm)): inverse(at(f"{arm}_gripper")) @ at(f"{arm}_camera") for arm in ARMS}
    truth |= {("top", str(arm)): inverse(at(f"{arm}_base")) @ at("top_camera") for arm in ARMS}
    return truth | {("bases", ""): inverse(at("left_base")) @ at("right_base")}


def _worse(figures: Figures, name: str, value: float) -> None:
    figures[name] = max(figures.get(name, 0.0), value)
