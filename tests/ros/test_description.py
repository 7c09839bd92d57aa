"""/robot_description says where the cameras are: by calibration where there is one, by the model elsewhere."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as xml

import numpy as np
import pytest
from yam_vam.calibrated_urdf import BODIES, CALIBRATED, MODELLED, UNKNOWN, camera_frame, known_frames, with_calibration
from yam_vam.description import urdf_path
from yam_vam.rotations import matrix_of, rpy_of

from contract.calibration import Calibration, Mount
from contract.station import Station, load_station

URDF = urdf_path().read_text(encoding="utf-8")
TOP = ((-0.2, -0.31, 0.95), (2.2, -1.1, 0.4))
WRIST = ((0.01, -0.07, 0.08), (-0.43, 0.02, -0.01))
RIGHT = ((0.003, -0.612, -0.001), (0.0, 0.01, 0.05))


def mount(parent: str, place: tuple[tuple[float, ...], tuple[float, ...]]) -> Mount:
    numbers = {"poses": 20, "held_out_mm": 0.4, "held_out_deg": 0.1, "method": "test", "date": "2026-01-01"}
    return Mount.model_validate({"parent": parent, "position_m": place[0], "rotation_rad": place[1], **numbers})


def station(*roles: str, **mounts: Mount) -> Station:
    plain = load_station("twin")
    cameras = tuple(plain.cameras[0].model_copy(update={"role": role, "device": f"pattern:{role}"}) for role in roles)
    calibration = Calibration(format=1, mounts=mounts, right_base=mount("left_base", RIGHT))
    return plain.model_copy(update={"cameras": cameras, "calibration": calibration})


def turned(rpy: tuple[float, ...]) -> np.ndarray:
    """R = Rz(yaw) Ry(pitch) Rx(roll), written out as in the URDF specification."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return np.asarray(about_z @ about_y @ about_x)


def pose(text: str, link: str, root: str) -> np.ndarray:
    """(4, 4) root_from_link through fixed joints only, as robot_state_publisher puts it on /tf_static."""
    joints = {joint.find("child").get("link"): joint for joint in xml.fromstring(text).iter("joint")}  # type: ignore[union-attr]
    made = np.eye(4)
    while link != root:
        joint = joints[link]
        assert joint.get("type") == "fixed", link
        origin = joint.find("origin")
        numbers = [tuple(float(word) for word in origin.get(name).split()) for name in ("xyz", "rpy")]  # type: ignore[union-attr]
        step = np.eye(4)
        step[:3, :3], step[:3, 3] = turned(numbers[1]), numbers[0]
        made, link = step @ made, joint.find("parent").get("link")  # type: ignore[union-attr,assignment]
    return made


def expected(place: tuple[tuple[float, ...], tuple[float, ...]]) -> np.ndarray:
    """By another way than the code's: the matrix exponential of the rotation vector, as a series."""
    x, y, z = place[1]
    cross, term, made = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]), np.eye(3), np.eye(4)
    made[:3, :3] = 0.0
    for n in range(1, 60):
        made[:3, :3] += term
        term = term @ cross / n
    made[:3, 3] = place[0]
    return made


def test_calibrated_cameras_and_the_right_base_stand_where_they_were_measured() -> None:
    found = station("top", "left_wrist", top=mount("left_base", TOP), left_wrist=mount("left_gripper", WRIST))
    text = with_calibration(URDF, found)
    assert pose(text, "top_camera", "left_base") == pytest.approx(expected(TOP), abs=1e-12)
    assert pose(text, "left_wrist_camera", "left_gripper") == pytest.approx(expected(WRIST), abs=1e-12)
    assert pose(text, "left_camera", "left_gripper") == pytest.approx(expected(WRIST), abs=1e-12), "its mesh goes too"
    assert pose(text, "right_base", "left_base") == pytest.approx(expected(RIGHT), abs=1e-12)
    assert known_frames(found) == {"top": CALIBRATED, "left_wrist": CALIBRATED}


def test_a_camera_seen_from_the_right_arm_hangs_on_the_right_base() -> None:
    text = with_calibration(URDF, station("top", top=mount("right_base", TOP)))
    assert pose(text, "top_camera", "left_base") == pytest.approx(expected(RIGHT) @ expected(TOP), abs=1e-12)


def test_a_camera_that_the_model_has_not_gets_a_frame_only_by_calibration() -> None:
    found = station("front", "side", front=mount("left_base", TOP))
    text = with_calibration(URDF, found)
    assert pose(text, "front_camera", "left_base") == pytest.approx(expected(TOP), abs=1e-12)
    assert 'name="side_camera"' not in text
    assert known_frames(found) == {"front": CALIBRATED, "side": UNKNOWN}


def test_without_a_calibration_the_model_s_cameras_are_what_there_is_and_it_is_said() -> None:
    plain = load_station("twin")
    text = with_calibration(URDF, plain)
    for role, body in BODIES.items():
        root = "left_base" if role == "top" else body.replace("camera", "gripper")
        assert pose(text, camera_frame(role), root) == pytest.approx(pose(URDF, body, root), abs=1e-12)
    assert set(known_frames(plain).values()) == {MODELLED}


def test_a_role_named_like_a_link_of_the_model_does_not_make_two_of_it() -> None:
    found = station("left", "left_wrist", left=mount("left_base", TOP), left_wrist=mount("left_gripper", WRIST))
    text = with_calibration(URDF, found)
    assert pose(text, "left_camera", "left_base") == pytest.approx(expected(TOP), abs=1e-12)
    assert pose(text, "left_wrist_camera", "left_gripper") == pytest.approx(expected(WRIST), abs=1e-12)
    links = [link.get("name") for link in xml.fromstring(text).iter("link")]
    assert len(links) == len(set(links))


def test_every_link_hangs_on_one_joint_and_the_licence_stays() -> None:
    text = with_calibration(URDF, station("top", "left_wrist", "front", front=mount("left_base", TOP)))
    robot = xml.fromstring(text)
    links = {link.get("name") for link in robot.iter("link")}
    children = [joint.find("child").get("link") for joint in robot.iter("joint")]  # type: ignore[union-attr]
    assert len(children) == len(set(children))
    assert links - set(children) == {"left_base"}
    assert "MIT License" in text.split("<robot")[0]


@pytest.mark.parametrize("view", [(0.0, np.pi / 2, 0.0), (0.0, -np.pi / 2, 0.0), (np.pi, 0.0, 0.0), (0.0, 0.0, 0.0)])
def test_a_view_straight_along_an_axis_survives(view: tuple[float, ...]) -> None:
    """Where pitch is a right angle, roll and yaw are one."""
    for spin in np.linspace(-3.0, 3.0, 7):
        matrix = matrix_of(view) @ matrix_of((0.0, 0.0, spin))
        assert turned(rpy_of(matrix)) == pytest.approx(matrix, abs=1e-6)


def test_the_description_can_be_printed_for_robot_state_publisher() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "yam_vam.description", "--station", "twin"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert 'link name="right_wrist_camera"' in done.stdout
    wrong = subprocess.run(
        [sys.executable, "-m", "yam_vam.description", "--station", "none"], capture_output=True, text=True, timeout=60
    )
    assert wrong.returncode == 2
    assert "yam_example" in wrong.stderr
