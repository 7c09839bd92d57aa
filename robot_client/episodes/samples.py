"""An episode on a fixed grid of times, as training wants it: at each time the newest of everything there was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_S
from robot_client.episodes.channels import JOINT_COMMANDS, JOINT_STATES, MODE, camera_topic
from robot_client.episodes.observations import image_of
from robot_client.episodes.reader import BagReader, Decoder
from robot_client.episodes.ros_messages import from_urdf

DRIVEN: Final = frozenset({"HANDOFF", "POLICY", "TELEOP", "REPLAY", "EXTERNAL"})
"""Modes that are the task; parking and standing are not."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One time of the grid."""

    time_s: float
    """From the first sample."""
    state: NDArray[np.float32]
    """(14,) measured, contract's layout."""
    action: NDArray[np.float32]
    """(14,) told: what the arms really got."""
    images: dict[str, NDArray[np.uint8]]
    """Camera role -> (H, W, 3) RGB."""


class Sampler:
    """Streams the samples of the first stretch in which a source drove the arms."""

    def __init__(self, reader: BagReader, roles: Sequence[str], rate_hz: float) -> None:
        self._reader, self._decode = reader, Decoder()
        self._topics = {camera_topic(role): role for role in roles}
        self._step_ns = NS_PER_S / rate_hz
        self._joints: dict[str, NDArray[np.float64]] = {}
        self._frames: dict[str, Any] = {}
        self._driven = self._over = False

    def samples(self) -> Iterator[Sample]:
        """Nothing when the arms were never driven or a camera gave no frame."""
        start_ns: int | None = None
        count = 0
        for message in self._reader.messages({JOINT_STATES, JOINT_COMMANDS, MODE, *self._topics}):
            if start_ns is None and self._ready:
                start_ns = message.log_ns
            while start_ns is not None and start_ns + count * self._step_ns < message.log_ns and not self._over:
                yield self._sample(count * self._step_ns / NS_PER_S)
                count += 1
            self._take(message)
            if self._over:
                return

    @property
    def _ready(self) -> bool:
        return self._driven and len(self._joints) == 2 and len(self._frames) == len(self._topics)

    def _take(self, message: Any) -> None:
        if message.topic in self._topics:
            self._frames[self._topics[message.topic]] = message
        elif message.topic == MODE:
            driven = json.loads(self._decode(message).data)["mode"] in DRIVEN
            self._over = self._driven and not driven
            self._driven = driven
        else:
            self._joints[message.topic] = from_urdf(np.array(self._decode(message).position))

    def _sample(self, time_s: float) -> Sample:
        images = {role: image_of(bytes(self._decode(frame).data)) for role, frame in self._frames.items()}
        state, action = (self._joints[topic].astype(np.float32) for topic in (JOINT_STATES, JOINT_COMMANDS))
        return Sample(time_s, state, action, images)


def camera_roles(reader: BagReader) -> dict[str, float]:
    """Camera roles of the recorded station and their rates [Hz]; reads the whole episode once.

    Raises `EpisodeError` when it is not one of ours.
    """
    for _ in reader.messages(()):
        pass
    try:
        cameras = json.loads(reader.notes["station"]["json"])["cameras"]
        return {str(camera["role"]): float(camera["rate_hz"]) for camera in cameras}
    except (KeyError, ValueError, TypeError) as error:
        raise EpisodeError(f"{reader.path}", expected="a recorded station", got="none", remedy="see info") from error
