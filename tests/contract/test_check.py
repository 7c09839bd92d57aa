"""Observations and answers are checked against what was agreed before any value is used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contract.check import check_camera_roles, check_layout, check_observation
from contract.check_answer import check_chunk, check_frames
from contract.errors import ActionError, FieldError, VersionError
from contract.handshake import contract_hash, require_same_contract
from contract.layout import SIZE
from contract.server_info import CameraSpec
from contract.types import ImaginedFrames
from tests.contract.messages_of_all_kinds import chunk, observation, server_info


def nan_at(shape: tuple[int, ...], *index: int) -> np.ndarray:
    array = np.zeros(shape, np.float32)
    array[index] = np.nan
    return array


def test_a_good_observation_passes() -> None:
    check_observation(observation(), server_info())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"joints": np.zeros(13, np.float32)}, r"joints: expected float32 \(14,\), got float32 \(13,\)"),
        ({"joints": np.zeros(14)}, "joints: expected float32"),
        ({"joints": np.zeros((1, 14), np.float32)}, "joints: expected float32"),
        ({"joints": np.zeros((), np.float32)}, "joints: expected float32"),
        ({"joints": nan_at((14,), 3)}, "joints: expected finite values, got nan at row 0, left_joint4"),
        ({"joints": np.full(14, np.inf, np.float32)}, "joints: expected finite values"),
        ({"prefix": np.zeros((9, SIZE), np.float32)}, "prefix: expected at most 8 rows, got 9"),
        ({"prefix": np.zeros((2, 13), np.float32)}, "prefix: expected float32"),
        ({"prefix": np.zeros(SIZE, np.float32), "first_row": 99}, "prefix: expected"),
        ({"prefix": nan_at((2, SIZE), 1, 6)}, "got nan at row 1, left_gripper"),
        ({"first_row": 1}, "first_row: expected at least 2"),
        ({"branches": ()}, "branches: expected full"),
        ({"branches": ("nolang",)}, "branches: expected full"),
        ({"branches": ("full", "full")}, "branches: expected full"),
        ({"image_stamps_ns": {"top": 1}}, "image_stamps_ns"),
    ],
)
def test_a_field_that_is_not_as_agreed_is_named_with_both_values(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(FieldError, match=words):
        check_observation(observation(**changes), server_info())


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((4, 6, 3), np.float32),
        np.zeros((4, 6, 4), np.uint8),
        np.zeros((4, 6), np.uint8),
        np.zeros((3, 4, 6), np.uint8),
        np.zeros((6, 4, 3), np.uint8),
        np.zeros((480, 640, 3), np.uint8),
    ],
    ids=lambda image: f"{image.dtype}{image.shape}",
)
def test_an_image_of_another_shape_or_dtype_is_refused_by_role(image: np.ndarray) -> None:
    """B17: axis order, and sizes that nobody resizes behind the sender's back."""
    asked = observation()
    with pytest.raises(FieldError, match="image left_wrist: expected uint8"):
        check_observation(replace(asked, images={**asked.images, "left_wrist": image}), server_info())


@pytest.mark.parametrize(
    "roles", [{"top"}, {"top", "left_wrist", "right_wrist", "belly"}, {"Top", "left", "right"}, set()]
)
def test_missing_extra_and_misnamed_cameras_are_refused_with_both_sets(roles: set[str]) -> None:
    """B19."""
    with pytest.raises(FieldError, match=r"camera roles.*left_wrist"):
        check_camera_roles(roles, server_info())


def test_an_optional_camera_may_be_missing() -> None:
    """B19: optional views are masked by the policy."""
    cameras = (*server_info().cameras[:2], CameraSpec(role="right_wrist", height=4, width=6, optional=True))
    check_camera_roles({"top", "left_wrist"}, server_info(cameras=cameras))


def test_another_channel_order_is_refused() -> None:
    """B21: the layout is agreed by name."""
    with pytest.raises(FieldError, match="layout"):
        check_layout(server_info(layout=server_info().layout[::-1]))


def test_another_contract_is_refused_with_both_hashes() -> None:
    with pytest.raises(VersionError, match=f"expected {contract_hash()}, got feed"):
        require_same_contract("feed", "client")


def test_a_good_answer_passes() -> None:
    check_chunk(chunk(observation()), observation(), server_info())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epoch": 1}, "session, epoch, sequence"),
        ({"sequence": 9}, "session, epoch, sequence"),
        ({"session": "other"}, "session, epoch, sequence"),
        ({"first_row": 21}, "first_row: expected 20, got 21"),
        ({"rows": np.zeros((13, SIZE), np.float32)}, r"rows: expected float32 \(14, 14\)"),
        ({"rows": np.zeros((14, SIZE))}, "rows: expected float32"),
    ],
)
def test_an_answer_to_something_else_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(FieldError, match=words):
        check_chunk(replace(chunk(observation()), **changes), observation(), server_info())


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_refuses_the_whole_chunk_with_row_and_joint(value: float) -> None:
    """B23: NaN at row 7, joint 3."""
    answer = chunk(observation())
    answer.rows[7, 2] = value
    with pytest.raises(ActionError, match="row 27, left_joint3"):
        check_chunk(answer, observation(), server_info())


def test_frames_that_are_no_rgb_video_are_refused() -> None:
    frames = ImaginedFrames("robot", 2, 1, np.zeros((3, 4, 6), np.uint8), 1, {})
    with pytest.raises(FieldError, match="frames"):
        check_frames(frames, observation())
