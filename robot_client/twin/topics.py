"""The mailboxes between the twin and the rest of the robot side: names, capacities, bytes. No MuJoCo here.

joints       twin -> loop          28 float64: positions (14,), velocities (14,)
command      loop -> twin          uint64 kind, 14 float64 targets
camera.ROLE  twin -> planner       2 uint32: height, width; then RGB bytes
status       twin -> supervisor    JSON of `Status`
control      supervisor -> twin    JSON of a request; done when the status says its number
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import RigError
from contract.layout import SIZE
from robot_client.mailbox_file import Letter
from robot_client.rigs.base import Frame, JointReading, Stop

JOINTS_BYTES: Final = 2 * SIZE * 8
COMMAND_BYTES: Final = 8 + SIZE * 8
JSON_BYTES: Final = 4096
_FRAME_HEAD: Final = struct.Struct("<II")
_KINDS: Final[tuple[Stop | None, ...]] = (None, Stop.HOLD, Stop.RELAX, Stop.POWER_OFF)


@dataclass(frozen=True, slots=True)
class Command:
    """What the loop wants: targets (14,) to follow, or a stop (then the targets mean nothing)."""

    target: NDArray[np.float64]
    stop: Stop | None


@dataclass(frozen=True, slots=True)
class Status:
    """How the twin is doing. `state` is one of following, holding, relaxed, falling, parking, parked."""

    process: int
    seed: int
    instruction: str
    arm: str
    phase: str
    success: bool
    misplaced: str
    state: str
    time_s: float
    steps: int
    overruns: int
    refused_commands: int
    control_done: int
    frames: int


def path_of(run_dir: Path, topic: str) -> Path:
    """File of a mailbox."""
    return run_dir / f"{topic}.mail"


def camera_topic(role: str) -> str:
    """Topic of a camera role."""
    return f"camera.{role}"


def frame_bytes(width: int, height: int) -> int:
    """Capacity of a camera's mailbox."""
    return _FRAME_HEAD.size + width * height * 3


def pack_joints(positions: NDArray[np.float64], velocities: NDArray[np.float64]) -> bytes:
    """Bytes of a measurement."""
    return np.concatenate([positions, velocities]).astype("<f8").tobytes()


def unpack_joints(letter: Letter) -> JointReading:
    """The measurement of a letter; `RigError` when the bytes are something else."""
    _check("joints", len(letter.payload), JOINTS_BYTES)
    values = np.frombuffer(letter.payload, "<f8")
    return JointReading(values[:SIZE], values[SIZE:], letter.stamp_ns)


def pack_command(command: Command) -> bytes:
    """Bytes of a command."""
    return struct.pack("<Q", _KINDS.index(command.stop)) + command.target.astype("<f8").tobytes()


def unpack_command(letter: Letter) -> Command:
    """The command of a letter; `RigError` when the bytes are something else."""
    _check("command", len(letter.payload), COMMAND_BYTES)
    (kind,) = struct.unpack_from("<Q", letter.payload)
    if kind >= len(_KINDS):
        raise RigError("kind of command", expected=f"below {len(_KINDS)}", got=kind)
    return Command(np.frombuffer(letter.payload, "<f8", SIZE, 8), _KINDS[kind])


def pack_frame(image: NDArray[np.uint8]) -> bytes:
    """Bytes of an image (height, width, 3) uint8."""
    return _FRAME_HEAD.pack(image.shape[0], image.shape[1]) + image.tobytes()


def unpack_frame(role: str, letter: Letter) -> Frame:
    """The frame of a letter; `RigError` when the bytes are something else."""
    _check(f"frame of {role}", max(len(letter.payload), _FRAME_HEAD.size), len(letter.payload))
    height, width = _FRAME_HEAD.unpack_from(letter.payload)
    _check(f"frame of {role}", len(letter.payload), frame_bytes(width, height))
    image = np.frombuffer(letter.payload, np.uint8, offset=_FRAME_HEAD.size).reshape(height, width, 3)
    return Frame(role, image, letter.stamp_ns)


def pack_status(status: Status) -> bytes:
    """Bytes of a status."""
    return json.dumps(asdict(status)).encode()


def unpack_status(letter: Letter) -> Status:
    """The status of a letter."""
    values = json.loads(letter.payload)
    return Status(**{field.name: values[field.name] for field in fields(Status)})


def _check(what: str, got: int, expected: int) -> None:
    if got != expected:
        raise RigError(f"{what} from the mailbox", expected=f"{expected} bytes", got=f"{got} bytes")
