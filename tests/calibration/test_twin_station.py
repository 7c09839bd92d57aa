"""Routines on the twin, which knows the truth; only the tests look at it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calibration import twin
from calibration.camera import Camera
from calibration.cell import Cell
from calibration.collect import collect
from calibration.drift import drift_of
from calibration.eyes import place
from calibration.latency import arm_lag, camera_lag, joints_lag
from calibration.measure import mounts
from calibration.rigid import difference, inverse, matrix
from calibration.views import load_views
from contract.calibration import Calibration
from contract.errors import ConfigurationError
from contract.station import load_station
from robot_client.clock import NS_PER_MS, NS_PER_S, FakeClock
from robot_client.rigs.base import JointReading
from robot_client.rigs.ideal import IdealRig

STATION = load_station("twin")
VIEWS = 11


def _lens(fovy_deg: float) -> Camera:
    focal = twin.SIZE_PX[1] / 2 / np.tan(np.radians(fovy_deg / 2))
    return Camera(width=640, height=480, fx=focal, fy=focal, cx=319.5, cy=239.5)


def test_a_wrist_camera_is_found_within_a_millimetre_by_pictures_and_joints_alone(tmp_path: Path) -> None:
    """The same from the recorded views, and a check afterwards finds nothing; one after a knock does."""
    rig = twin.make_rig()
    try:
        plan = twin.wrist_plan("left", VIEWS)
        rig.show(twin.board_place(plan.role, plan.arm))
        collect(twin.make_cell(rig, STATION, 25.0), twin.BOARD, plan, keep=tmp_path)
        at = {name: rig.data.body(name) for name in ("left_gripper", "left_camera")}
        hand, camera = (matrix(body.xmat.reshape(3, 3), body.xpos) for body in at.values())
    finally:
        rig.close()
    views, lens = load_views(tmp_path, twin.BOARD), _lens(70.0)
    metres, radians = difference(inverse(hand) @ camera, place(twin.BOARD, lens, views, "eye_in_hand").result.x)
    assert len(views) == VIEWS and metres < 0.001 and np.degrees(radians) < 0.1

    changes, _, _ = mounts(twin.BOARD, {"left_wrist": lens}, views, tmp_path)
    entry = {**lens.model_dump(), "method": "known", "date": "2026-01-31", "views": 1, "rms_px": 0.0,
             "held_out_px": 0.0, "covered": 1.0}  # fmt: skip
    stored = Calibration.model_validate({"format": 1, **changes, "intrinsics": {"left_wrist": entry}})
    assert drift_of(stored, twin.BOARD, "left_wrist", views).what == ""
    changes["mounts"]["left_wrist"]["position_m"][0] += 0.02
    knocked = Calibration.model_validate({"format": 1, **changes, "intrinsics": {"left_wrist": entry}})
    assert "moved" in drift_of(knocked, twin.BOARD, "left_wrist", views).what


@pytest.mark.parametrize("delay_ms", [20, 45])
def test_a_known_delay_of_an_arm_comes_back_within_two_milliseconds(delay_ms: int) -> None:
    clock = FakeClock(NS_PER_S)
    rig = IdealRig(clock, STATION.poses.home.vector(), delay_ns=delay_ms * NS_PER_MS)
    free = STATION.model_copy(update={"safety": STATION.safety.model_copy(update={"space": None})})
    found = arm_lag(Cell(rig, clock, free, loop_hz=200.0), "left", seconds=3.0)
    assert abs(1e3 * found.seconds - delay_ms) < 2.0


class Late(IdealRig):
    """Readings that took seven milliseconds to arrive, as their stamps say."""

    def joints(self) -> JointReading:
        reading = super().joints()
        return JointReading(reading.positions, reading.velocities, reading.stamp_ns - 7 * NS_PER_MS)


def test_the_way_of_joint_readings_is_what_their_stamps_say() -> None:
    clock = FakeClock(NS_PER_S)
    free = STATION.model_copy(update={"safety": STATION.safety.model_copy(update={"space": None})})
    cell = Cell(Late(clock, STATION.poses.home.vector()), clock, free, loop_hz=200.0)
    assert joints_lag(cell, "right").seconds == pytest.approx(0.007, abs=1e-4)


def test_views_with_a_wrong_key_are_refused_by_file_line_and_key(tmp_path: Path) -> None:
    (tmp_path / "views.jsonl").write_text('{"picture": "a.png", "role": "top", "arms": "left", "joints": []}\n')
    with pytest.raises(ConfigurationError, match=r"views\.jsonl:1: expected keys .*'arm'.*got .*'arms'"):
        load_views(tmp_path, twin.BOARD)


def test_a_cameras_latency_is_against_the_joints_stamps_so_that_nothing_else_need_be_subtracted() -> None:
    """60 ms of camera and 20 ms of joints: images less 40 ms and readings as they are carry the stamp of one moment."""
    from robot_client.twin.timed import Delays

    rig = twin.make_rig(Delays(joints_ns=20 * NS_PER_MS, camera_ns=60 * NS_PER_MS))
    try:
        rig.show("table")
        cell = twin.make_cell(rig, STATION, 100.0)
        cell.go(twin.wrist_plan("left", 1).start)
        found = camera_lag(cell, twin.BOARD, "left_wrist", "left", 2.0)
    finally:
        rig.close()
    assert found.seconds == pytest.approx(0.040, abs=0.006)
