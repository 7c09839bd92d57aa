"""Policies that want pictures without their lens's distortion get them, or nothing moves."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from contract.calibration import Calibration
from contract.codec import decode, encode
from contract.errors import CodecError, ConfigurationError
from contract.handshake import contract_hash
from contract.messages import Welcome
from contract.server_info import CameraSpec, ServerInfo
from contract.station import Station
from robot_client.camera_roles import bind_cameras
from robot_client.clock import FakeClock
from robot_client.planner.observe import look
from robot_client.rectify import rectifiers_of
from robot_client.rigs.base import Frame
from tests.robot_client.stage import STATION, info

WIDTH, HEIGHT = 320, 240
LENS = {
    "width": 2 * WIDTH, "height": 2 * HEIGHT, "fx": 420.0, "fy": 420.0, "cx": 325.0, "cy": 235.0,
    "distortion": [-0.3, 0.1, 0.0, 0.0, 0.0], "method": "x", "date": "2026-01-31", "views": 9, "rms_px": 0.1,
    "held_out_px": 0.1, "covered": 0.9,
}  # fmt: skip


def station(calibrated: bool = True) -> Station:
    cameras = tuple(camera.model_copy(update={"width": WIDTH, "height": HEIGHT}) for camera in STATION.cameras)
    section = Calibration.model_validate({"format": 1, "intrinsics": {"top": LENS} if calibrated else {}})
    return STATION.model_copy(update={"cameras": cameras, "calibration": section})


def wanted(rectified: bool = True) -> ServerInfo:
    server = info()
    cameras = (CameraSpec(role="top", height=HEIGHT, width=WIDTH, rectified=rectified), *server.cameras[1:])
    return server.model_copy(update={"cameras": cameras})


def seen(rectified: bool) -> np.ndarray:
    """What the policy gets of a picture with a dot where the lens shows a point of the world."""
    at, server = station(), wanted(rectified)
    bound = bind_cameras(at.cameras, {}, server)
    image = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    x, y = distorted()
    cv2.circle(image, (round(x * 16), round(y * 16)), 4 * 16, (255, 255, 255), -1, cv2.LINE_AA, 4)
    black = {c.role: Frame(c.role, np.zeros((HEIGHT, WIDTH, 3), np.uint8), 0) for c in at.cameras}
    frames = {**black, "top": Frame("top", image, 0)}
    ways = rectifiers_of(bound, at, server)
    return np.asarray(look(frames, bound, server, FakeClock(0), 10**9, ways).images["top"])


RAY = np.array([[[0.30, -0.22, 1.0]]])


def k() -> np.ndarray:
    """Of half the calibrated resolution: pixel centres scale about the outer corner."""
    return np.array([[210.0, 0.0, (325.5) / 2 - 0.5], [0.0, 210.0, (235.5) / 2 - 0.5], [0.0, 0.0, 1.0]])


def distorted() -> tuple[float, float]:
    found, _ = cv2.projectPoints(RAY, np.zeros(3), np.zeros(3), k(), np.array(LENS["distortion"]))
    return float(found[0, 0, 0]), float(found[0, 0, 1])


def centre(image: np.ndarray) -> np.ndarray:
    weights = image[..., 0].astype(float)
    rows, columns = np.mgrid[: image.shape[0], : image.shape[1]]
    return np.array([(columns * weights).sum(), (rows * weights).sum()]) / weights.sum()


def test_a_rectified_camera_shows_points_where_a_lens_without_distortion_would() -> None:
    straight = (k() @ RAY[0, 0])[:2]
    assert np.linalg.norm(np.array(distorted()) - straight) > 3.0, "the lens must bend for the test to say anything"
    np.testing.assert_allclose(centre(seen(True)), straight, atol=0.3)
    np.testing.assert_allclose(centre(seen(False)), distorted(), atol=0.3)


def test_a_policy_that_wants_rectified_pictures_is_refused_where_the_lens_is_not_known() -> None:
    server = wanted()
    at = station(calibrated=False)
    with pytest.raises(ConfigurationError, match=r"camera top.*run yam-calibrate intrinsics"):
        rectifiers_of(bind_cameras(at.cameras, {}, server), at, server)
    assert rectifiers_of(bind_cameras(at.cameras, {}, wanted(False)), at, wanted(False)) == {}


def test_a_stream_of_another_shape_than_was_calibrated_is_refused_before_anything_is_asked() -> None:
    at = station()
    square = tuple(camera.model_copy(update={"width": HEIGHT}) for camera in at.cameras)
    with pytest.raises(ConfigurationError, match="shape of 640 x 480"):
        rectifiers_of({"top": square[0]}, at, wanted())


def test_the_word_is_on_the_wire_only_where_it_is_so_and_the_contract_stays_the_same() -> None:
    """A robot of before reads all policies of before as before; one that wants rectified pictures it cannot read."""
    plain, needy = (encode(Welcome(wanted(rectified)), 1) for rectified in (False, True))
    assert b"rectified" not in b"".join(bytes(part) for part in plain)
    assert b"rectified" in b"".join(bytes(part) for part in needy)
    message = decode([bytes(part) for part in needy]).message
    assert isinstance(message, Welcome) and message.info.cameras[0].rectified
    assert "rectified" not in wanted(False).model_dump()["cameras"][0]
    assert len(contract_hash()) == 16


def test_an_unknown_word_of_a_camera_is_refused_by_a_reader() -> None:
    """What a robot of before does with the needy policy."""
    parts = [bytes(part) for part in encode(Welcome(wanted()), 1)]
    with pytest.raises(CodecError):
        decode([part.replace(b"rectified", b"rectifier") for part in parts])
