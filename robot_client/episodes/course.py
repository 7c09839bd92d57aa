"""What the arms were told in an episode, as targets over time, for a replay on a rig."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_S
from robot_client.episodes.channels import JOINT_COMMANDS, TICK, TICK_FIELDS
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.formats.joint_values import joint_values
from robot_client.episodes.reader import BagReader, is_rosbag

MOST_SECONDS: Final = 2 * 3600
MOST_TARGETS: Final = 2_000_000
_DEADLINE: Final = TICK_FIELDS.index("deadline_ns")


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Targets `values` (N, 14) at `times_ns` (N,) from 0, strictly rising; between them on straight lines."""

    times_ns: NDArray[np.int64]
    values: NDArray[np.float64]
    dropped: int
    """Targets that another one with the same stamp replaced."""

    @property
    def duration_ns(self) -> int:
        """From the first target to the last."""
        return int(self.times_ns[-1])

    def at(self, time_ns: float) -> NDArray[np.float64]:
        """The target (14,) at a time; the first before, the last after. Exactly a recorded one where one is."""
        i = int(np.searchsorted(self.times_ns, time_ns, side="right")) - 1
        if i < 0:
            return self.values[0]
        if i >= len(self.times_ns) - 1 or time_ns == self.times_ns[i]:
            return self.values[i]
        part = (time_ns - self.times_ns[i]) / (self.times_ns[i + 1] - self.times_ns[i])
        return self.values[i] + part * (self.values[i + 1] - self.values[i])


def course_of(path: Path) -> Course:
    """The told targets of a bag: joints by name, paced by their own stamps and never by a rate.

    Our own episodes also have each tick's place on the loop's grid, which is used where it is there, so that a replay
    on the same grid gives the same targets. Raises `EpisodeError` when there is nothing that can be replayed.
    """
    stamps, values = [], []
    for stamp_ns, target in _targets(path):
        stamps.append(stamp_ns)
        values.append(target)
        if len(stamps) > MOST_TARGETS or stamp_ns - stamps[0] > MOST_SECONDS * NS_PER_S:
            raise EpisodeError(f"{path}", expected=f"at most {MOST_SECONDS / 3600:g} h", got="more", remedy="cut it")
    if len(stamps) < 2:
        raise EpisodeError(f"{path}", expected=f"targets on {JOINT_COMMANDS}", got=len(stamps), remedy="see info")
    return course_from(np.array(stamps, np.int64), np.array(values))


def course_from(stamps_ns: NDArray[np.int64], values: NDArray[np.float64]) -> Course:
    """A course from targets in any order; of several with one stamp the last counts."""
    order = np.argsort(stamps_ns, kind="stable")
    stamps_ns, values = stamps_ns[order], values[order]
    last = np.append(np.diff(stamps_ns) > 0, True)
    return Course(stamps_ns[last] - stamps_ns[last][0], values[last], int(np.sum(~last)))


def _targets(path: Path) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Place on the grid, or without one the stamp, and target."""
    if not is_rosbag(path):
        yield from _told_elsewhere(path)
        return
    decode = Decoder()
    due = {tick.sequence: int(decode(tick).data[_DEADLINE]) for tick in BagReader(path).messages((TICK,))}
    for message in BagReader(path).messages((JOINT_COMMANDS,)):
        told = decode(message)
        if not due:
            yield _stamp_ns(told, message), joint_values(told, JOINT_COMMANDS)
        elif message.sequence in due:
            yield due[message.sequence], joint_values(told, JOINT_COMMANDS)


def _told_elsewhere(path: Path) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Of another layout; imported here, because it loads what decodes images, which the control loop does not."""
    from robot_client.episodes.formats.choose import open_episode
    from robot_client.episodes.formats.entries import Joints

    for entry in open_episode(path).entries(()):
        if isinstance(entry, Joints) and entry.kind == "told":
            yield entry.stamp_ns, entry.values


def _stamp_ns(message: Any, raw: Any) -> int:
    stamp_ns = message.header.stamp.sec * NS_PER_S + message.header.stamp.nanosec
    return int(stamp_ns) or int(raw.log_ns)
