"""Answers against what was asked, before any row is believed."""

from __future__ import annotations

import numpy as np

from contract.errors import ActionError, FieldError
from contract.layout import CHANNELS, SIZE
from contract.server_info import ServerInfo
from contract.types import ActionChunk, ImaginedFrames, Observation


def check_chunk(chunk: ActionChunk, asked: Observation, info: ServerInfo) -> None:
    """Raises `FieldError` when the chunk answers something else, `ActionError` naming row and channel on NaN or inf."""
    _check_addressee(chunk, asked)
    if chunk.first_row != asked.first_row:
        raise FieldError(
            "first_row", expected=asked.first_row, got=chunk.first_row, remedy="the server must echo what was asked"
        )
    wanted = (info.horizon - len(asked.prefix), SIZE)
    if chunk.rows.dtype != np.float32 or chunk.rows.shape != wanted:
        raise FieldError(
            "rows",
            expected=f"float32 {wanted}: horizon {info.horizon} less the prefix",
            got=f"{chunk.rows.dtype} {chunk.rows.shape}",
            remedy="serve a policy that keeps its ServerInfo",
        )
    if not np.isfinite(chunk.rows).all():
        row, channel = np.argwhere(~np.isfinite(chunk.rows))[0]
        raise ActionError(
            f"row {chunk.first_row + row}, {CHANNELS[channel]}",
            expected="a finite target",
            got=chunk.rows[row, channel],
            remedy="the whole chunk is refused; check the bundle and its precision on this device",
        )


def check_frames(frames: ImaginedFrames, asked: Observation) -> None:
    """Raises `FieldError` when the frames answer something else or are no RGB video."""
    _check_addressee(frames, asked)
    video = frames.frames
    if video.dtype != np.uint8 or video.ndim != 4 or video.shape[3] != 3:
        raise FieldError(
            "frames",
            expected="uint8 (T, height, width, 3)",
            got=f"{video.dtype} {video.shape}",
            remedy="serve a policy that keeps the contract",
        )


def _check_addressee(answer: ActionChunk | ImaginedFrames, asked: Observation) -> None:
    want = (asked.session, asked.epoch, asked.sequence)
    have = (answer.session, answer.epoch, answer.sequence)
    if have != want:
        raise FieldError(
            "session, epoch, sequence", expected=want, got=have, remedy="the server must echo what was asked"
        )
