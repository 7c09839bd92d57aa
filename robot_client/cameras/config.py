"""What one camera process is told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from contract.errors import ConfigurationError
from contract.server_info import Strict
from contract.station import Camera


class CameraConfig(Strict):
    """Everything `python -m robot_client.cameras` needs to know; as JSON in a file."""

    role: Annotated[str, Field(min_length=1, max_length=64)]
    device: Annotated[str, Field(min_length=1)]
    height: Annotated[int, Field(ge=1, le=4096)]
    width: Annotated[int, Field(ge=1, le=4096)]
    rate_hz: Annotated[float, Field(gt=0.0, le=1000.0)]
    latency_ms: Annotated[float, Field(ge=0.0)] = 0.0
    """Exposure to arrival."""
    serial: str = ""
    """Serial number that a v4l2 device must have; empty: not checked."""
    frames_dir: Annotated[str, Field(min_length=1)]
    """Folder of the mailboxes."""

    @property
    def latency_ns(self) -> int:
        """Exposure to arrival."""
        return int(self.latency_ms * 1e6)


def config_of(camera: Camera, device: str, frames_dir: Path) -> CameraConfig:
    """For a camera of the station, on `device`; another device than the station's has its own serial number."""
    return CameraConfig(
        role=camera.role,
        device=device,
        height=camera.height,
        width=camera.width,
        rate_hz=camera.rate_hz,
        latency_ms=camera.latency_ms,
        serial=camera.serial if device == camera.device else "",
        frames_dir=str(frames_dir),
    )


def read_camera_config(path: Path) -> CameraConfig:
    """Raises `ConfigurationError` naming the key at fault."""
    try:
        return CameraConfig.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path}", expected="a readable file", got=error.strerror) from error
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in fault["loc"]) or "file"
        raise ConfigurationError(f"{path.name}: {key}", expected=fault["msg"], got=fault.get("input")) from error
