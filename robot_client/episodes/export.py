"""Episodes -> a dataset for training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from contract.errors import ConfigurationError, EpisodeError
from robot_client.episodes.folder import episodes_in
from robot_client.episodes.info import info_of
from robot_client.episodes.reader import BagReader
from robot_client.episodes.samples import Sampler, camera_roles

ROBOT_TYPE: Final = "yam_bimanual"


def export_lerobot(
    paths: Sequence[Path], out: Path, rate_hz: float, incomplete: bool, say: Callable[[str], None]
) -> int:
    """Write the episodes (or all in a folder of episodes) as one LeRobot v3 dataset; returns the number of frames.

    rate_hz 0: that of the fastest camera. Raises `EpisodeError` for an incomplete episode unless `incomplete`.
    """
    writer_of = _writer()
    episodes = _expanded(paths)
    rates = camera_roles(BagReader(episodes[0], tolerant=incomplete))
    rate_hz = rate_hz or max(rates.values())
    writer = writer_of(out, rate_hz, ROBOT_TYPE)
    tasks = [_task_of(path, incomplete) for path in episodes]
    writer.open()
    total = 0
    for path, task in zip(episodes, tasks, strict=True):
        for sample in Sampler(BagReader(path, tolerant=incomplete), sorted(rates), rate_hz).samples():
            writer.add(sample)
        frames = writer.end_episode(task)
        say(f"{path.name}: {frames} frames, {task!r}" if frames else f"{path.name}: nobody drove the arms, left out")
        total += frames
    writer.close()
    return total


def _expanded(paths: Sequence[Path]) -> list[Path]:
    found = [one for path in paths for one in (episodes_in(path) if path.is_dir() else ()) or [path]]
    if not found:
        raise EpisodeError("episodes", expected="at least one", got="none")
    return found


def _task_of(path: Path, incomplete: bool) -> str:
    info = info_of(path)
    if not info.complete and not incomplete:
        raise EpisodeError(
            f"{path}", expected="a complete episode", got=info.missing[0], remedy="leave it out, or give --incomplete"
        )
    return info.facts.get("instruction", "")


def _writer() -> type:
    try:
        from robot_client.episodes.lerobot import LeRobotWriter
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "export to lerobot",
            expected="pyarrow",
            got="not installed",
            remedy='pip install "yam-video-action[lerobot]"',
        ) from error
    return LeRobotWriter
