"""The frames of one episode of a LeRobot dataset, and the table they make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contract.layout import ARMS
from robot_client.episodes.samples import Sample

STATE: Final = "observation.state"
ACTION: Final = "action"
CONTROL: Final = "control_source"
"""Feature: who drove, for each frame."""
INTERVENTION: Final = "intervention"
"""Feature: which arms a person moved in place of the policy, for each frame (left, right)."""
SCALARS: Final[dict[str, tuple[str, pa.DataType]]] = {
    "timestamp": ("float32", pa.float32()),
    "frame_index": ("int64", pa.int64()),
    "episode_index": ("int64", pa.int64()),
    "index": ("int64", pa.int64()),
    "task_index": ("int64", pa.int64()),
}


@dataclass(slots=True)
class Frames:
    """What was added so far. Images are not here: they go to their videos at once."""

    tasks: list[int] = field(default_factory=list)
    """Index of the task of each frame."""
    _states: list[NDArray] = field(default_factory=list)
    _actions: list[NDArray] = field(default_factory=list)
    _sources: list[str] = field(default_factory=list)
    _taken: list[list[bool]] = field(default_factory=list)

    def __len__(self) -> int:
        """How many frames."""
        return len(self._states)

    def add(self, sample: Sample, task: int) -> None:
        """One frame, of the task with that index."""
        self._states.append(sample.state)
        self._actions.append(sample.action)
        self._sources.append(sample.source)
        self._taken.append([arm in sample.intervention for arm in ARMS])
        self.tasks.append(task)

    def vectors(self) -> dict[str, NDArray[np.float32]]:
        """Feature -> (frames, 14) float32."""
        return {STATE: np.array(self._states, np.float32), ACTION: np.array(self._actions, np.float32)}

    def table(self, rate_hz: float, episode: int, first: int) -> pa.Table:
        """A row a frame; `first` is the number of the first one in the whole dataset."""
        frames = np.arange(len(self))
        columns = {
            **{name: _vectors(values) for name, values in self.vectors().items()},
            "timestamp": pa.array((frames / rate_hz).astype(np.float32)),
            "frame_index": pa.array(frames),
            "episode_index": pa.array(np.full(len(frames), episode)),
            "index": pa.array(frames + first),
            "task_index": pa.array(np.array(self.tasks)),
            CONTROL: pa.array(self._sources),
            INTERVENTION: pa.array(self._taken),
        }
        return pa.table(columns)


def _vectors(values: NDArray[np.float32]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])
