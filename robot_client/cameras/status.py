"""How a camera is doing, for people and for the doctor; in a mailbox beside its frames."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

from contract.errors import RigError
from robot_client.mailbox_file import Letter
from robot_client.twin.topics import path_of

STATUS_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class CameraStatus:
    """Once a second and at every change."""

    role: str
    device: str
    serial: str
    state: str
    """opening, delivering, frozen (the same picture again and again), lost (tries again) or given up."""
    frames: int
    rate_hz: float
    """Of the last second."""
    how: str
    """Of the newest stamp, see `stamps.How`."""
    jumps: int
    reconnects: int
    trouble: str
    """The last one; stays for people to see."""


def status_path(frames_dir: Path, role: str) -> Path:
    """File of the mailbox."""
    return path_of(frames_dir, f"camera_status.{role}")


def pack_status(status: CameraStatus) -> bytes:
    """Bytes of a status; long trouble is cut."""
    values = {name: value[:500] if isinstance(value, str) else value for name, value in asdict(status).items()}
    return json.dumps(values).encode()


def unpack_status(letter: Letter) -> CameraStatus:
    """The status of a letter; `RigError` when it is none."""
    try:
        values = json.loads(letter.payload)
        return CameraStatus(**{field.name: values[field.name] for field in fields(CameraStatus)})
    except (ValueError, KeyError, TypeError) as error:
        raise RigError("camera status", expected="a status", got=repr(error)) from error
