"""`yam-policy imagine` and the pictures it reads and writes."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from contract.errors import ConfigurationError
from policy_server.commands.imagine import Wish, imagine
from policy_server.commands.pictures import png_bytes, read_picture, synthetic_picture, write_film, write_strip
from policy_server.server.background import background_server
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from tests.contract.messages_of_all_kinds import server_info
from tests.waiting import PATIENCE_S

WISH = Wish(instruction="", chunks=2, images={}, seed=3)


def size_of(png: bytes) -> tuple[int, int]:
    """(height, width) in a PNG's header."""
    width, height = struct.unpack(">II", png[16:24])
    return height, width


def test_frames_from_a_server_become_a_strip(tmp_path: Path) -> None:
    with background_server(lambda: ScriptedPolicy(Script(info=scripted_info(8, 12)))) as server:
        line = imagine(None, server.endpoint, WISH, tmp_path / "new" / "strip.png", PATIENCE_S)
    assert "33 frames, 3.3 s at 10 Hz" in line
    assert size_of((tmp_path / "new" / "strip.png").read_bytes()) == (8 * 8, 12)


def test_frames_from_a_server_become_a_film(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    with background_server(lambda: ScriptedPolicy(Script(info=scripted_info(32, 48)))) as server:
        imagine(None, server.endpoint, WISH, tmp_path / "film.mp4", PATIENCE_S)
    with av.open(str(tmp_path / "film.mp4")) as film:
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
    assert len(frames) == 33 and frames[0].shape == (32, 48, 3)


def test_a_film_of_odd_size_is_cut_by_one_pixel_and_not_refused(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    write_film(tmp_path / "odd.mp4", np.zeros((3, 33, 49, 3), np.uint8), 10.0)
    with av.open(str(tmp_path / "odd.mp4")) as film:
        assert (film.streams.video[0].height, film.streams.video[0].width) == (32, 48)


@pytest.mark.parametrize(("bundle", "server"), [(None, None), (Path("x"), "tcp://127.0.0.1:1")])
def test_either_a_bundle_or_a_server_must_be_named(bundle: Path | None, server: str | None, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="either --bundle or --server"):
        imagine(bundle, server, WISH, tmp_path / "x.png", 1.0)


def test_a_request_has_an_image_of_the_right_size_for_every_camera_and_the_same_for_the_same_seed() -> None:
    request = WISH.request(server_info(5, 7), "guest")
    again = WISH.request(server_info(5, 7), "guest")
    assert {image.shape for image in request.observation.images.values()} == {(5, 7, 3)}
    assert all(
        np.array_equal(request.observation.images[role], again.observation.images[role])
        for role in again.observation.images
    )
    assert not np.array_equal(synthetic_picture("top", 9, 9, 0), synthetic_picture("top", 9, 9, 1))


def test_a_given_picture_is_read_as_rgb_and_scaled(tmp_path: Path) -> None:
    """B17: red stays red."""
    pytest.importorskip("cv2")
    red = np.zeros((20, 30, 3), np.uint8)
    red[..., 0] = 255
    path = tmp_path / "red.png"
    path.write_bytes(png_bytes(red))
    picture = read_picture(path, 10, 12)
    assert picture.shape == (10, 12, 3)
    assert picture[0, 0].tolist() == [255, 0, 0]


def test_a_missing_picture_is_named(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    with pytest.raises(ConfigurationError, match=r"none\.png"):
        read_picture(tmp_path / "none.png", 4, 4)


def test_a_png_holds_exactly_the_pixels() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (5, 4, 3), np.uint8)
    png = png_bytes(picture)
    begin = png.index(b"IDAT") + 4
    rows = np.frombuffer(zlib.decompress(png[begin:-16]), np.uint8).reshape(5, 13)
    assert not rows[:, 0].any()
    assert np.array_equal(rows[:, 1:].reshape(5, 4, 3), picture)


def test_a_strip_of_few_frames_repeats_none(tmp_path: Path) -> None:
    write_strip(tmp_path / "two.png", np.zeros((2, 6, 4, 3), np.uint8))
    assert size_of((tmp_path / "two.png").read_bytes()) == (12, 4)
