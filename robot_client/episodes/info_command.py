"""`yam-robot episode info`: topics and counts of one episode, or a line for each of many."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from robot_client.episodes.formats.choose import episodes_at
from robot_client.episodes.info import EpisodeInfo, info_of_source

_WIDTH: Final = 120
"""Of a table that goes into a file: wide enough for every topic."""


def run_info(path: Path, console: Console) -> int:
    """0 when all is complete, else 1."""
    sources = episodes_at(path, tolerant=True)
    if len(sources) == 1:
        found = info_of_source(sources[0])
        _table(found, console)
        _line(found, console)
        return 0 if found.complete else 1
    complete = 0
    for source in sources:
        found = info_of_source(source)
        _line(found, console)
        complete += found.complete
    console.print(f"{len(sources)} episodes, {complete} complete")
    return 0 if complete == len(sources) else 1


def _table(found: EpisodeInfo, console: Console) -> None:
    table = Table("topic" if found.layout == "rosbag2" else "entries", "type", "messages")
    for name, count in sorted(found.counts.items()):
        table.add_row(name, found.types[name], str(count))
    console = console if console.is_terminal else Console(file=console.file, markup=False, width=_WIDTH)
    console.print(table)
    for name, value in found.facts.items():
        if not value:
            continue
        console.print(f"{name}: {value}", highlight=False, markup=False, soft_wrap=True)


def _line(found: EpisodeInfo, console: Console) -> None:
    state = "complete" if found.complete else "INCOMPLETE"
    what = f"{found.layout}, {found.messages} messages, {found.seconds:.1f} s"
    console.print(f"{found.path}: {state}, {what}", highlight=False, soft_wrap=True)
    for line in found.missing:
        console.print(f"missing: {line}", highlight=False, markup=False, soft_wrap=True)
