"""An observation as it lies in an episode: a header as JSON, and one PNG per camera role, both lossless."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from contract.bodies import ObservationBody
from contract.errors import EpisodeError
from contract.layout import SIZE
from contract.parts import to_parts
from contract.types import Observation
from robot_client.images import swapped

_FASTEST = [cv2.IMWRITE_PNG_COMPRESSION, 1]


def observation_id(session: str, epoch: int, sequence: int) -> str:
    """The id that its images carry as frame_id; the same as the chunk's that answers it."""
    return f"{session}/{epoch}/{sequence}"


def header_text(observation: Observation) -> str:
    """Everything but the images. Stamps are monotonic; float32 values survive JSON exactly."""
    body, _ = to_parts(observation)
    joints = {"joints": _listed(observation.joints), "prefix": _listed(observation.prefix)}
    return json.dumps({**body, **joints}, separators=(",", ":"))


def from_header(text: str, images: Mapping[str, NDArray]) -> Observation:
    """The observation again. Raises `EpisodeError` naming the field that is not as recorded by us."""
    try:
        fields: dict[str, Any] = json.loads(text)
        joints, prefix = fields.pop("joints"), fields.pop("prefix")
        body = ObservationBody.model_validate_json(json.dumps(fields))
        return Observation(
            **vars(body),
            joints=np.array(joints, np.float32),
            prefix=np.array(prefix, np.float32).reshape(-1, SIZE),
            images=dict(images),
        )
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise EpisodeError("observation header", expected="as it was recorded", got=str(error)[:200]) from error


def png_of(image: NDArray) -> bytes:
    """(H, W, 3) uint8 RGB, losslessly."""
    done, data = cv2.imencode(".png", swapped(image), _FASTEST)
    if not done:
        raise EpisodeError("image", expected="(height, width, 3) uint8", got=f"{image.shape} {image.dtype}")
    return bytes(data)


def image_of(png: bytes) -> NDArray[np.uint8]:
    """(H, W, 3) uint8 RGB of a recorded image. Raises `EpisodeError` when it is none."""
    image = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR) if png else None
    if image is None:
        raise EpisodeError("recorded image", expected="a PNG", got=f"{len(png)} other bytes")
    return swapped(np.asarray(image, np.uint8))


def _listed(values: NDArray) -> list:
    return [[float(v) for v in row] if np.ndim(row) else float(row) for row in values]
