"""What lies at a path: one episode or many, in whichever layout.

`DATASET#3` is episode 3 of a LeRobot dataset.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from contract.errors import ConfigurationError, EpisodeError
from robot_client.episodes.formats.abc_source import AbcSource
from robot_client.episodes.formats.bag_source import BagSource
from robot_client.episodes.formats.base import EpisodeSource
from robot_client.episodes.formats.peer_source import FLAG, METADATA, PeerSource
from robot_client.episodes.reader import is_protobuf, is_rosbag

LAYOUTS: Final = (
    "a rosbag2 (.mcap, .db3 or their folder), an ABC-130k episode.mcap, a LeRobot dataset (meta/info.json), "
    "a folder of yam-abc-reproduce (metadata.json), or a folder of such"
)
_DEPTH: Final = 4
_ABC: Final = "episode.mcap"
_DATASET: Final = Path("meta") / "info.json"


def open_episode(path: Path, tolerant: bool = False) -> EpisodeSource:
    """The one episode at `path`. Raises `EpisodeError` when there is none, or more than one."""
    found = episodes_at(path, tolerant)
    if len(found) > 1:
        raise EpisodeError(
            f"{path}",
            expected="one episode",
            got=f"{len(found)}",
            remedy=f"name one of them, for example {found[0].path}",
        )
    return found[0]


def episodes_at(path: Path, tolerant: bool = False) -> list[EpisodeSource]:
    """All episodes at `path`, in the order of their names. Raises `EpisodeError` when there is none."""
    dataset, number = _numbered(path)
    if number is not None:
        return _of_dataset(dataset, number, tolerant)
    found = list(_all(path, tolerant, _DEPTH))
    if not found:
        raise EpisodeError(f"{path}", expected=LAYOUTS, got=_described(path), remedy="check the path")
    return found


def is_bag(source: EpisodeSource) -> bool:
    """A rosbag2, whose messages can be copied as they are."""
    return isinstance(source, BagSource)


def _all(path: Path, tolerant: bool, depth: int) -> Iterator[EpisodeSource]:
    mcap = path / _ABC if path.is_dir() else path
    if (path / _DATASET).is_file():
        yield from _of_dataset(path, None, tolerant)
    elif (path / METADATA).is_file() or (path / FLAG).is_file():
        yield PeerSource(path, tolerant)
    elif mcap.suffix == ".mcap" and mcap.is_file() and is_protobuf(mcap):
        yield AbcSource(path, tolerant)
    elif is_rosbag(path):
        yield BagSource(path, tolerant)
    elif path.is_dir() and depth:
        for child in sorted(path.iterdir()):
            if child.is_dir() and not child.name.startswith("."):
                yield from _all(child, tolerant, depth - 1)


def _numbered(path: Path) -> tuple[Path, int | None]:
    name, mark, number = path.name.rpartition("#")
    if mark and number.isdigit() and not path.exists():
        return path.with_name(name), int(number)
    return path, None


def _of_dataset(root: Path, number: int | None, tolerant: bool) -> list[EpisodeSource]:
    """Imports pyarrow, which only datasets need."""
    try:
        from robot_client.episodes.formats.lerobot_meta import LeRobotMeta
        from robot_client.episodes.formats.lerobot_source import LeRobotSource
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"{root}", expected="pyarrow", got="not installed", remedy='pip install "yam-video-action[lerobot]"'
        ) from error
    meta = LeRobotMeta(root)
    meta.read()
    if number is not None and number not in meta.numbers:
        raise EpisodeError(f"{root}", expected=f"an episode of 0 to {max(meta.numbers, default=-1)}", got=number)
    return [LeRobotSource(meta, n, tolerant) for n in (meta.numbers if number is None else [number])]


def _described(path: Path) -> str:
    if not path.exists():
        return "nothing there"
    if path.is_file():
        return f"a file {path.suffix or 'without an ending'}"
    names = sorted(child.name for child in path.iterdir())[:6]
    return f"a folder with {', '.join(names)}" if names else "an empty folder"
