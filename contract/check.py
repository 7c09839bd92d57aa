"""Observations against what the server asked for, before any value is used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from contract.errors import FieldError
from contract.layout import CHANNELS, SIZE
from contract.server_info import ServerInfo
from contract.types import BRANCHES, Branch, Observation


def check_observation(observation: Observation, info: ServerInfo) -> None:
    """Raises `FieldError` naming the first field that is not as `info` says: shape, dtype, finiteness, role, prefix."""
    _check_joints(observation.joints)
    _check_prefix(observation, info)
    _check_branches(observation.branches)
    _check_images(observation, info)
    if set(observation.image_stamps_ns) != set(observation.images):
        raise FieldError(
            "image_stamps_ns",
            expected=f"one stamp for each of {sorted(observation.images)}",
            got=sorted(observation.image_stamps_ns),
            remedy="stamp every image with its capture time",
        )


def check_camera_roles(have: set[str], info: ServerInfo) -> None:
    """Raises `FieldError` with both sets when a required role is missing or an unknown one is offered."""
    required = {camera.role for camera in info.cameras if not camera.optional}
    known = {camera.role for camera in info.cameras}
    if not required <= have or not have <= known:
        raise FieldError(
            "camera roles",
            expected=f"{sorted(known)} (required: {sorted(required)})",
            got=sorted(have),
            remedy="name the station's cameras after the policy's roles, or map them in the station file",
        )


def check_layout(info: ServerInfo) -> None:
    """Raises `FieldError` when the server's channels are not ours."""
    if tuple(info.layout) != CHANNELS:
        raise FieldError("layout", expected=CHANNELS, got=info.layout, remedy="serve a policy for this robot")


def _check_joints(joints: NDArray) -> None:
    if joints.ndim != 1:
        raise FieldError(
            "joints",
            expected=f"float32 ({SIZE},)",
            got=f"{joints.dtype} {joints.shape}",
            remedy="send one vector in the contract's layout",
        )
    _check_vectors("joints", joints[np.newaxis], 1)


def _check_branches(branches: Sequence[Branch]) -> None:
    if "full" not in branches or len(set(branches)) != len(branches):
        raise FieldError(
            "branches",
            expected=f"full and any of {', '.join(BRANCHES[1:])}, each once",
            got=", ".join(branches) or "none",
            remedy="the conditional branch always runs",
        )


def _check_prefix(observation: Observation, info: ServerInfo) -> None:
    prefix = observation.prefix
    count = prefix.shape[0] if prefix.ndim else 0
    if count > info.max_prefix:
        raise FieldError(
            "prefix", expected=f"at most {info.max_prefix} rows", got=count, remedy="commit fewer rows before a replan"
        )
    if count > observation.first_row:
        raise FieldError(
            "first_row",
            expected=f"at least {count}, the prefix length",
            got=observation.first_row,
            remedy="count rows from 0",
        )
    _check_vectors("prefix", prefix, count)


def _check_vectors(name: str, vectors: NDArray, count: int) -> None:
    if vectors.dtype != np.float32 or vectors.shape != (count, SIZE):
        raise FieldError(
            name,
            expected=f"float32 ({count}, {SIZE})" if name == "prefix" else f"float32 ({SIZE},)",
            got=f"{vectors.dtype} {vectors.shape if name == 'prefix' else vectors.shape[1:]}",
            remedy="send values in the contract's layout",
        )
    if not np.isfinite(vectors).all():
        row, channel = np.argwhere(~np.isfinite(vectors))[0]
        raise FieldError(
            name,
            expected="finite values",
            got=f"{vectors[row, channel]} at row {row}, {CHANNELS[channel]}",
            remedy="repair the sensor; no value is put in its place",
        )


def _check_images(observation: Observation, info: ServerInfo) -> None:
    check_camera_roles(set(observation.images), info)
    for camera in info.cameras:
        image = observation.images.get(camera.role)
        wanted = (camera.height, camera.width, 3)
        if image is not None and (image.dtype != np.uint8 or image.shape != wanted):
            raise FieldError(
                f"image {camera.role}",
                expected=f"uint8 {wanted}, RGB",
                got=f"{image.dtype} {image.shape}",
                remedy="resize and convert on the client (robot_client.images)",
            )
