"""What is in an episode, counted anew from its data: never from what a counter said."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_S
from robot_client.episodes.bag import CLOSING
from robot_client.episodes.channels import TICK
from robot_client.episodes.formats.base import EpisodeSource
from robot_client.episodes.formats.choose import is_bag, open_episode
from robot_client.episodes.formats.entries import Joints, Picture
from robot_client.episodes.missing import missing_lines
from robot_client.episodes.numbering import Gaps
from robot_client.episodes.reader import BagReader


@dataclass(frozen=True, slots=True)
class EpisodeInfo:
    """One pass over all data."""

    path: Path
    layout: str
    counts: Mapping[str, int]
    """Topic, or for another layout than a bag kind of entry, -> how many."""
    types: Mapping[str, str]
    seconds: float
    facts: Mapping[str, str]
    missing: tuple[str, ...]
    """One line for everything that is known not to be there."""

    @property
    def complete(self) -> bool:
        """Closed properly, nothing damaged, nothing lost."""
        return not self.missing

    @property
    def messages(self) -> int:
        """Of all topics."""
        return sum(self.counts.values())


def info_of(path: Path) -> EpisodeInfo:
    """Of the one episode at `path`. Raises `EpisodeError` only when nothing can be read; damage is in `missing`."""
    return info_of_source(open_episode(path, tolerant=True))


def info_of_source(source: EpisodeSource) -> EpisodeInfo:
    """Of an episode that was opened tolerantly."""
    return _of_bag(source.path) if is_bag(source) else _of_entries(source)


def _of_bag(path: Path) -> EpisodeInfo:
    reader, ticks = BagReader(path, tolerant=True), Gaps()
    counts: Counter[str] = Counter()
    types: dict[str, str] = {}
    start_ns = end_ns = 0
    for message in reader.messages():
        start_ns = message.log_ns if not counts else min(start_ns, message.log_ns)
        end_ns = max(end_ns, message.log_ns)
        counts[message.topic] += 1
        types[message.topic] = message.ros_type
        if message.topic == TICK:
            ticks.came(message.sequence)
    closing = reader.notes.get(CLOSING, {})
    missing = missing_lines(reader, closing) + _contradictions(counts, ticks, closing)
    facts = dict(reader.notes.get("episode", {}))
    return EpisodeInfo(path, "rosbag2", dict(counts), types, (end_ns - start_ns) / NS_PER_S, facts, missing)


def _of_entries(source: EpisodeSource) -> EpisodeInfo:
    counts: Counter[str] = Counter()
    types: dict[str, str] = {}
    start_ns = end_ns = 0
    trouble: tuple[str, ...] = ()
    try:
        for entry in source.entries():
            start_ns, end_ns = start_ns or entry.stamp_ns, max(end_ns, entry.stamp_ns)
            name = {Joints: getattr(entry, "kind", ""), Picture: getattr(entry, "role", "")}.get(type(entry), "")
            name = name or type(entry).__name__.lower()
            counts[name] += 1
            types[name] = type(entry).__name__
    except EpisodeError as error:
        trouble = (str(error),)
    missing = (*source.missing, *trouble)
    seconds = (end_ns - start_ns) / NS_PER_S
    return EpisodeInfo(source.path, source.layout, dict(counts), types, seconds, dict(source.facts), missing)


def _contradictions(counts: Counter[str], ticks: Gaps, closing: Mapping[str, str]) -> tuple[str, ...]:
    """Where the data is not what the recorder said it wrote, or has gaps of its own."""
    lines = []
    if "cut_from" not in closing and ticks.missing:
        lines.append(f"{ticks.missing} ticks of the loop, by their numbers")
    if "written" in closing and "recovered_from" not in closing:
        written = Counter({topic: int(count) for topic, count in json.loads(closing["written"]).items()})
        for topic in sorted(written.keys() | counts.keys()):
            if written[topic] != counts[topic]:
                lines.append(f"{topic}: {written[topic]} written, {counts[topic]} there")
    return tuple(lines)
