"""One message of every kind, with values that a mix-up would show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from contract import messages as m
from contract.bodies import Message
from contract.handshake import contract_hash
from contract.layout import CHANNELS, SIZE
from contract.server_info import CameraSpec, ServerInfo
from contract.types import (
    ActionChunk,
    GuidanceScales,
    ImaginedFrames,
    ImagineRequest,
    Observation,
    Skipped,
    TemporalRatio,
)

ROLES = ("top", "left_wrist", "right_wrist")


def server_info(height: int = 4, width: int = 6, **changes: Any) -> ServerInfo:
    """A policy with three cameras of one size, horizon 16, at most 8 prefix rows."""
    facts: dict[str, Any] = {
        "protocol": 1,
        "contract_hash": contract_hash(),
        "model_id": "scripted",
        "trained": False,
        "weights_hash": "0" * 64,
        "engine_id": "scripted/1",
        "runs_on": "a script",
        "cameras": tuple(CameraSpec(role=role, height=height, width=width) for role in ROLES),
        "layout": CHANNELS,
        "action_kinds": ("absolute",) * SIZE,
        "horizon": 16,
        "step_ns": 100_000_000,
        "max_prefix": 8,
        "vocabulary": ("put", "the", "cube"),
        "calibration": "UNCALIBRATED",
        "guidance": "off",
        "costs_ns": {"branches_1": 1000},
        "state": "READY",
    }
    return ServerInfo(**{**facts, **changes})


def shade(camera: int, sequence: int) -> np.uint8:
    """What the pixels of one image carry."""
    return np.uint8((40 * camera + sequence) % 256)


def observation(height: int = 4, width: int = 6, sequence: int = 1, **changes: Any) -> Observation:
    """An observation that `server_info` of the same size accepts. Every image is filled from sequence and role."""
    images = {
        role: np.arange(height * width * 3, dtype=np.uint8).reshape(height, width, 3)
        + np.uint8((40 * i + sequence) % 256)
        for i, role in enumerate(ROLES)
    }
    whole = Observation(
        session="robot",
        epoch=2,
        sequence=sequence,
        stamp_ns=1_000_000_007,
        joints=np.linspace(-1, 1, SIZE, dtype=np.float32),
        joints_stamp_ns=1_000_000_001,
        images=images,
        image_stamps_ns={role: 1_000_000_000 - i for i, role in enumerate(ROLES)},
        instruction="put the cube",
        seed=2**64 - 1,
        first_row=20,
        prefix=np.arange(2 * SIZE, dtype=np.float32).reshape(2, SIZE),
        budget_ns=0,
    )
    return replace(whole, **changes)


def chunk(asked: Observation, horizon: int = 16) -> ActionChunk:
    """An answer to `asked` in which every row carries its own number."""
    count = horizon - len(asked.prefix)
    numbers = np.arange(asked.first_row, asked.first_row + count, dtype=np.float32)
    masses = np.arange(2 * 1 * 2 * horizon * 2, dtype=np.float32).reshape(2, 1, 2, horizon, 2)
    return ActionChunk(
        session=asked.session,
        epoch=asked.epoch,
        sequence=asked.sequence,
        observation_stamp_ns=asked.stamp_ns,
        first_row=asked.first_row,
        rows=np.repeat(numbers[:, np.newaxis], SIZE, axis=1),
        temporal_ratio=TemporalRatio(0.5, 0.125, float("nan"), masses),
        scales=GuidanceScales(0.25, 0.75),
        branches_run=("full", "nolang"),
        branches_dropped=("noplan",),
        durations_ns={"total": 123_456, "encode": 7},
        engine_id="scripted/1",
    )


def one_of_each() -> list[Message]:
    """A message of every kind there is."""
    asked = observation()
    frames = np.arange(3 * 4 * 6 * 3, dtype=np.uint8).reshape(3, 4, 6, 3)
    return [
        m.Hello("robot", "0123456789abcdef", contract_hash(), "tests"),
        m.Welcome(server_info()),
        m.Ping("robot", 7),
        m.Pong(7, "READY"),
        m.Probe("robot"),
        m.ProbeAnswer("robot", "0123456789abcdef"),
        m.ErrorReply("field", "joints", "14", "13", "send 14"),
        m.Goodbye("robot"),
        Skipped("robot", 2, 1, "superseded by sequence 2"),
        asked,
        ImagineRequest(asked, 3),
        chunk(asked),
        ImaginedFrames("robot", 2, 1, frames, 100_000_000, {"video": 5}),
    ]
