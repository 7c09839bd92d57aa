"""What has drifted since a station was calibrated, from views with known truth, and by the command as one types it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calibration.camera import Camera
from calibration.commands import app
from calibration.detection import Sighting
from calibration.drawing import drawn_view
from calibration.drift import Drift, bases_fault, drift_of
from calibration.rigid import Matrix, inverse, matrix, vector
from calibration.section import store
from calibration.twin import BOARD
from calibration.views import View, save_view
from calibration.zeros import hands_of
from contract.calibration import Calibration
from contract.errors import ConfigurationError
from contract.layout import pack
from contract.station import STATIONS

LENS = Camera(width=640, height=480, fx=600.0, fy=600.0, cx=319.5, cy=239.5)
MOUNT = matrix(np.array([0.0, 0.0, 0.0]), np.array([0.0, -0.07, 0.08]))
EYE = {"method": "made up", "date": "2026-01-31", "poses": 20, "held_out_mm": 0.5, "held_out_deg": 0.1}
START = np.array([0.0, 1.2, 1.3, -0.8, 0.0, 0.0])
TURNS = ((0.0,) * 6, (0.1, 0, 0, 0.15, 0.1, 0.2), (-0.1, 0.05, 0, -0.1, -0.15, -0.2),
         (0.0, 0, 0.03, 0.1, -0.05, 0.25))  # fmt: skip


def entry(mount: Matrix, parent: str = "left_gripper") -> dict:
    values = [float(value) for value in vector(mount)]
    return {**EYE, "parent": parent, "rotation_rad": values[:3], "position_m": values[3:]}


def section(mount: Matrix = MOUNT, lens: Camera = LENS) -> dict:
    known = {**lens.model_dump(), "distortion": list(lens.distortion), "method": "made up", "date": "2026-01-31",
             "views": 20, "rms_px": 0.1, "held_out_px": 0.1, "covered": 0.8}  # fmt: skip
    return {"board": BOARD.model_dump(), "intrinsics": {"left_wrist": known}, "mounts": {"left_wrist": entry(mount)}}


def seen() -> list[tuple[np.ndarray, Matrix]]:
    """Joints (14,) and camera_from_board of poses from which the board is in the middle of the picture."""
    first = hands_of(START[np.newaxis])[0] @ MOUNT
    still = first @ matrix(np.array([0.3, 0.1, 0.2]), np.array([-0.1, -0.07, 0.4]))
    poses = []
    for turn in TURNS:
        joints = START + turn
        camera = hands_of(joints[np.newaxis])[0] @ MOUNT
        poses.append((pack(joints, 1.0, START, 1.0), inverse(camera) @ still))
    return poses


def views(lens: Camera = LENS) -> list[View]:
    found = []
    for joints, board in seen():
        pixels = lens.project(board, BOARD.points_m())
        found.append(View("left_wrist", "left", joints, Sighting(np.arange(BOARD.corners), pixels, 12), (640, 480)))
    return found


def stored(**changes: object) -> Calibration:
    return Calibration.model_validate({"format": 1, **section(), **changes})


def test_a_station_as_it_was_has_not_drifted() -> None:
    drift = drift_of(stored(), BOARD, "left_wrist", views())
    assert drift.what == "" and drift.scatter_mm < 0.1 and "as calibrated" in drift.said()


def test_a_camera_that_was_knocked_and_a_lens_that_was_turned_are_told_apart() -> None:
    knocked = stored(mounts={"left_wrist": entry(MOUNT @ matrix(np.array([0.0, 0.05, 0.0]), np.zeros(3)))})
    assert "has moved" in drift_of(knocked, BOARD, "left_wrist", views()).what
    refocused = views(LENS.model_copy(update={"distortion": (0.4, 0.0, 0.0, 0.0, 0.0)}))
    assert "lens" in drift_of(stored(), BOARD, "left_wrist", refocused).what


def test_a_lens_so_far_off_that_no_pose_fits_is_a_finding_and_no_error() -> None:
    ruined = views(LENS.model_copy(update={"distortion": (3.0, 0.0, 0.0, 0.0, 0.0)}))
    drift = drift_of(stored(), BOARD, "left_wrist", ruined)
    assert "lens" in drift.what and np.isnan(drift.scatter_mm) and drift.still is None


def test_too_few_views_and_a_camera_that_was_never_calibrated_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="3 views or more"):
        drift_of(stored(), BOARD, "left_wrist", views()[:2])
    with pytest.raises(ConfigurationError, match="no intrinsics and no mounts"):
        drift_of(stored(), BOARD, "top", views())


def test_an_arm_that_was_moved_is_seen_by_one_board_on_the_table() -> None:
    board = matrix(np.array([3.1, 0.0, 0.0]), np.array([0.4, -0.3, 0.0]))
    stands = matrix(np.array([0.0, 0.0, 0.01]), np.array([0.0, -0.61, 0.0]))
    at = stored(right_base=entry(stands, "left_base"))
    left = Drift("left_wrist", 0.1, 0.1, 0.1, "", board)
    for move_m, fault in ((0.0, False), (0.02, True)):
        moved = matrix(np.zeros(3), np.array([0.0, move_m, 0.0])) @ stands
        right = Drift("right_wrist", 0.1, 0.1, 0.1, "", inverse(moved) @ board)
        assert bool(bases_fault(at, {"left_wrist": left, "right_wrist": right})) == fault
    assert bases_fault(at, {"left_wrist": left}) == "" == bases_fault(stored(), {})


def recorded(folder: Path) -> Path:
    for joints, board in seen():
        save_view(folder, "left_wrist", "left", joints, drawn_view(BOARD, LENS, board))
    return folder


def test_check_ends_with_1_and_says_what_drifted_or_that_nothing_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    station, folder = tmp_path / "mine.toml", recorded(tmp_path / "views")
    station.write_text((STATIONS / "twin.toml").read_text(encoding="utf-8"), encoding="utf-8")
    store(str(station), None, section())
    asked = ["check", "--station", str(station), "--rig", "data", "--data", str(folder), "--roles", "left_wrist"]
    app.cli(args=asked)
    assert "nothing has drifted" in capsys.readouterr().out
    store(str(station), None, section(MOUNT @ matrix(np.array([0.0, 0.05, 0.0]), np.zeros(3))))
    with pytest.raises(SystemExit) as ended:
        app.cli(args=asked)
    assert ended.value.code == 1
    assert "drifted:\n  left_wrist: the camera" in capsys.readouterr().out


def test_the_wrong_board_before_a_check_is_refused_with_what_to_try(tmp_path: Path) -> None:
    """B48: another board than was printed."""
    station, folder = tmp_path / "mine.toml", recorded(tmp_path / "views")
    station.write_text((STATIONS / "twin.toml").read_text(encoding="utf-8"), encoding="utf-8")
    store(str(station), None, section())
    file = tmp_path / "board.toml"
    file.write_text("columns = 5\nrows = 7\nsquare_m = 0.03\nmarker_m = 0.022\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="exchange columns and rows"):
        app.cli(args=["check", "--station", str(station), "--rig", "data", "--data", str(folder),
                      "--roles", "left_wrist", "--board", str(file)])  # fmt: skip
