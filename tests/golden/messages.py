"""The messages whose bytes are frozen. Every value is written out, so that a client in another language can check."""

from __future__ import annotations

import numpy as np

from contract import messages as m
from contract.bodies import Message
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

FROZEN_CONTRACT_HASH = "0011223344556677"
"""Not the real one: these bytes may not change when a field is added elsewhere."""


def _info() -> ServerInfo:
    return ServerInfo(
        protocol=1,
        contract_hash=FROZEN_CONTRACT_HASH,
        model_id="golden",
        trained=False,
        weights_hash="ab" * 32,
        engine_id="scripted/1",
        runs_on="a script",
        cameras=(
            CameraSpec(role="top", height=2, width=3),
            CameraSpec(role="left_wrist", height=1, width=2, optional=True),
        ),
        layout=CHANNELS,
        action_kinds=("absolute",) * SIZE,
        horizon=4,
        step_ns=100_000_000,
        max_prefix=2,
        vocabulary=("cube", "put", "the"),
        calibration="UNCALIBRATED",
        guidance="adaptive",
        costs_ns={"branches_1": 30_000_000, "branches_2": 45_000_000, "branches_3": 60_000_000},
        state="READY",
    )


def _observation() -> Observation:
    return Observation(
        session="golden-robot",
        epoch=3,
        sequence=41,
        stamp_ns=9_000_000_123,
        joints=np.arange(SIZE, dtype=np.float32) / np.float32(8),
        joints_stamp_ns=9_000_000_100,
        images={
            "top": np.arange(18, dtype=np.uint8).reshape(2, 3, 3),
            "left_wrist": np.array([[[255, 0, 0], [0, 255, 0]]], np.uint8),
        },
        image_stamps_ns={"top": 9_000_000_050, "left_wrist": 9_000_000_060},
        instruction="put the cube",
        seed=2**64 - 1,
        first_row=12,
        prefix=np.arange(2 * SIZE, dtype=np.float32).reshape(2, SIZE),
        budget_ns=80_000_000,
    )


def _chunk() -> ActionChunk:
    return ActionChunk(
        session="golden-robot",
        epoch=3,
        sequence=41,
        observation_stamp_ns=9_000_000_123,
        first_row=12,
        rows=np.arange(2 * SIZE, dtype=np.float32).reshape(2, SIZE) / np.float32(4),
        temporal_ratio=TemporalRatio(0.75, 0.1875, float("nan"), np.full((1, 1, 2, 4, 2), 0.5, np.float32)),
        scales=GuidanceScales(1.5, 0.0),
        branches_run=("full", "nolang"),
        branches_dropped=("noplan",),
        durations_ns={"video": 11_000_000, "total": 31_000_000},
        engine_id="scripted/1",
    )


def _frames() -> ImaginedFrames:
    video = np.arange(2 * 2 * 3 * 3, dtype=np.uint8).reshape(2, 2, 3, 3)
    return ImaginedFrames("golden-robot", 3, 41, video, 100_000_000, {"total": 500_000_000})


EXCHANGE: dict[str, tuple[Message, int]] = {
    "01_hello": (m.Hello("golden-robot", "0123456789abcdef", FROZEN_CONTRACT_HASH, "golden client"), 1),
    "02_welcome": (m.Welcome(_info()), 1),
    "03_ping": (m.Ping("golden-robot", 7), 2),
    "04_pong": (m.Pong(7, "READY"), 2),
    "05_observation": (_observation(), 3),
    "06_chunk": (_chunk(), 3),
    "07_skipped": (Skipped("golden-robot", 3, 40, "superseded by sequence 41"), 4),
    "08_imagine": (ImagineRequest(_observation(), 2), 5),
    "09_frames": (_frames(), 5),
    "10_probe": (m.Probe("golden-robot"), 0),
    "11_probe_answer": (m.ProbeAnswer("golden-robot", "0123456789abcdef"), 0),
    "12_error": (m.ErrorReply("field", "joints", "float32 (14,)", "float32 (13,)", "send 14 values"), 6),
    "13_goodbye": (m.Goodbye("golden-robot"), 7),
}
"""Name of a file -> message and request id, in the order of a conversation."""
