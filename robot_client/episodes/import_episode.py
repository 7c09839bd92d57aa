"""Episodes of any layout as episodes of ours, each with the next number of a folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_S
from robot_client.episodes.entry_writer import EntryWriter
from robot_client.episodes.folder import next_number
from robot_client.episodes.formats.ahead import decoded_ahead
from robot_client.episodes.formats.base import EpisodeSource
from robot_client.episodes.formats.entries import Driver, Entry, Instruction

IMPORTED: Final = "imported_from"
_LATCHED: Final = (Driver, Instruction)


def import_episode(source: EpisodeSource, directory: Path) -> Path:
    """The folder of the new episode; what the source does not have makes it incomplete.

    Raises `EpisodeError` when the source cannot be read; what was read until then is marked incomplete.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        folder = directory / f"episode_{next_number(directory):06d}"
    except OSError as error:
        raise EpisodeError(f"{directory}", expected="a folder that can be written", got=error.strerror) from error
    write_episode(source, source.entries(), folder, IMPORTED)
    return folder


def write_episode(source: EpisodeSource, entries: Iterable[Entry], folder: Path, how: str) -> EntryWriter:
    """`entries` of `source` as a new episode in `folder`. Raises as `import_episode`."""
    rates = source.cameras()
    writer = EntryWriter(folder)
    writer.open()
    error: EpisodeError | None = None
    try:
        for entry in decoded_ahead(entries):
            writer.add(entry)
    except EpisodeError as trouble:
        error = trouble
    facts = {**source.facts, "from": source.path.name, "layout": source.layout}
    missing = [*source.missing, *([str(error)] if error else [])]
    writer.close(facts, rates, missing if writer.entries else [*missing, "everything: nothing was there"], how)
    if error is not None:
        raise error
    return writer


def piece(source: EpisodeSource, start_s: float, end_s: float) -> Iterator[Entry]:
    """Entries from `start_s` to `end_s`, counted from the first; before them who drives and what is to be done then."""
    zero_ns: int | None = None
    latched: dict[type, Entry] = {}
    begun = False
    for entry in source.entries():
        zero_ns = entry.stamp_ns if zero_ns is None else zero_ns
        time_s = (entry.stamp_ns - zero_ns) / NS_PER_S
        if time_s > end_s:
            continue
        if time_s < start_s:
            if isinstance(entry, _LATCHED):
                latched[type(entry)] = entry
            continue
        if not begun:
            begun = True
            yield from (_moved(kept, entry.stamp_ns) for kept in latched.values())
        yield entry


def _moved(entry: Entry, stamp_ns: int) -> Entry:
    if isinstance(entry, Driver):
        return dataclasses.replace(entry, stamp_ns=stamp_ns)
    return Instruction(stamp_ns, entry.text) if isinstance(entry, Instruction) else entry
