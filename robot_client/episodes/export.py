"""Episodes of any layout -> a dataset for training, an ABC-130k file, or a plain rosbag2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from contract.errors import ConfigurationError, EpisodeError
from robot_client.episodes.abc_writer import AbcWriter
from robot_client.episodes.formats.base import EpisodeSource
from robot_client.episodes.formats.choose import episodes_at, is_bag
from robot_client.episodes.import_episode import write_episode
from robot_client.episodes.info import info_of_source
from robot_client.episodes.plain_bag import plain_bag
from robot_client.episodes.samples import Sampler

ROBOT_TYPE: Final = "yam_bimanual"
Layout = Literal["lerobot", "abc", "rosbag"]
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Export:
    """What to write where. rate_hz 0: that of the fastest camera."""

    out: Path
    rate_hz: float = 0.0
    incomplete: bool = False
    """Take incomplete episodes too."""


def export(paths: Sequence[Path], to: Layout, wanted: Export, say: Say) -> int:
    """Write all episodes at `paths`; the number of frames (lerobot) or messages.

    Raises `EpisodeError` for an incomplete episode unless `wanted.incomplete`, and before anything was written.
    """
    sources = _usable(paths, wanted.incomplete)
    return {"lerobot": _lerobot, "abc": _abc, "rosbag": _rosbag}[to](sources, wanted, say)


def export_lerobot(paths: Sequence[Path], out: Path, rate_hz: float, incomplete: bool, say: Say) -> int:
    """As `export` to LeRobot v3."""
    return export(paths, "lerobot", Export(out, rate_hz, incomplete), say)


def _usable(paths: Sequence[Path], incomplete: bool) -> list[EpisodeSource]:
    found = [source for path in paths for source in episodes_at(path, tolerant=True)]
    if not found:
        raise EpisodeError("episodes", expected="at least one", got="none")
    for source in found:
        missing = () if incomplete else info_of_source(source).missing
        if missing:
            raise EpisodeError(
                f"{source.path}",
                expected="a complete episode",
                got=missing[0],
                remedy="leave it out, or give --incomplete",
            )
    return found


def _lerobot(sources: Sequence[EpisodeSource], wanted: Export, say: Say) -> int:
    writer_of = _writer()
    rates = sources[0].cameras()
    rate_hz = wanted.rate_hz or max(rates.values(), default=0.0)
    if rate_hz <= 0.0:
        raise EpisodeError(f"{sources[0].path}", expected="a camera, or --rate-hz", got="neither")
    writer = writer_of(wanted.out, rate_hz, ROBOT_TYPE)
    writer.open()
    total = 0
    for source in sources:
        frames, stretch = 0, 0
        sampler = Sampler(source, sorted(rates), rate_hz)
        for sample in sampler.samples():
            if sample.stretch != stretch:
                frames, stretch = frames + writer.end_episode(), sample.stretch
            writer.add(sample)
        frames += writer.end_episode()
        for line in sampler.breaks:
            say(f"{source.path.name}: {line}")
        say(
            f"{source.path.name}: {frames} frames" if frames else f"{source.path.name}: nobody drove the arms, left out"
        )
        total += frames
    writer.close()
    return total


def _abc(sources: Sequence[EpisodeSource], wanted: Export, say: Say) -> int:
    total = 0
    for folder, source in _folders(sources, wanted.out):
        writer = AbcWriter(folder, dict(source.cameras()))
        writer.open()
        for entry in source.entries():
            writer.add(entry)
        writer.close()
        say(f"{source.path.name}: {writer.messages} messages in {folder}")
        total += writer.messages
    return total


def _rosbag(sources: Sequence[EpisodeSource], wanted: Export, say: Say) -> int:
    total = 0
    for folder, source in _folders(sources, wanted.out):
        if is_bag(source):
            messages = plain_bag(source.path, folder)
        else:
            messages = write_episode(source, source.entries(), folder, "exported_from").entries
        say(f"{source.path.name}: {messages} messages in {folder}")
        total += messages
    return total


def _folders(sources: Sequence[EpisodeSource], out: Path) -> Iterator[tuple[Path, EpisodeSource]]:
    """A folder for each, named by its number among them; `out` itself for a single one."""
    for number, source in enumerate(sources):
        yield (out if len(sources) == 1 else out / f"episode_{number:04d}"), source


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
