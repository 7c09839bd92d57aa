"""Saves what can be read of a damaged episode, and cuts a piece out of a whole one. The source is never changed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_S
from robot_client.episodes.bag import CLOSING
from robot_client.episodes.channels import LATCHED
from robot_client.episodes.copy import BagCopy
from robot_client.episodes.formats.base import EpisodeSource
from robot_client.episodes.formats.choose import is_bag, open_episode
from robot_client.episodes.import_episode import piece, write_episode
from robot_client.episodes.missing import missing_lines
from robot_client.episodes.raw_message import RawMessage
from robot_client.episodes.reader import BagReader
from robot_client.episodes.shown_from import ShownFrom

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Saved:
    """What a copy has."""

    messages: int
    seconds: float
    missing: tuple[str, ...]
    """One line for everything that is not in it."""
    complete: bool


def recover(source: Path, out: Path) -> Saved:
    """Everything readable of `source` as a new bag in `out`.

    Complete only when nothing at all was wrong. Raises `EpisodeError` when there is no source or `out` exists.
    """
    found = open_episode(source, tolerant=True)
    return _recover_bag(source, out) if is_bag(found) else _other(found, out, "recovered_from", 0.0, float("inf"))


def cut(source: Path, out: Path, start_s: float, end_s: float) -> Saved:
    """Messages from `start_s` to `end_s`, counted from the first message, as a new bag in `out`. Mode and instruction
    of the time before stand at its beginning.

    Raises `EpisodeError` when the source is damaged or nothing lies in between.
    """
    if not 0.0 <= start_s < end_s:
        raise EpisodeError("piece", expected="0 <= start < end [s]", got=f"{start_s} to {end_s}")
    found = open_episode(source)
    return _cut_bag(source, out, start_s, end_s) if is_bag(found) else _other(found, out, "cut_from", start_s, end_s)


def _recover_bag(source: Path, out: Path) -> Saved:
    reader = BagReader(source, tolerant=True)
    copy = BagCopy(out)
    copy.open()
    messages, start_ns, end_ns = 0, 0, 0
    for message in reader.messages():
        copy.add(message)
        start_ns = message.log_ns if not messages else min(start_ns, message.log_ns)
        end_ns = max(end_ns, message.log_ns)
        messages += 1
    closing = reader.notes.get(CLOSING, {})
    copy.notes(reader.notes)
    missing = missing_lines(reader, closing)
    saved = Saved(messages, (end_ns - start_ns) / NS_PER_S, missing, not missing)
    copy.close({**closing, **_closing(saved, source, "recovered_from")})
    return saved


def _cut_bag(source: Path, out: Path, start_s: float, end_s: float) -> Saved:
    reader, copy = BagReader(source), BagCopy(out)
    found = _some(_piece_of(reader, start_s, end_s), source, start_s, end_s)
    copy.open()
    messages, first_ns, last_ns = 0, 0, 0
    for message in found:
        copy.add(message)
        first_ns = message.log_ns if not messages else first_ns
        messages, last_ns = messages + 1, message.log_ns
    closing = reader.notes.get(CLOSING, {})
    copy.notes(reader.notes)
    missing = missing_lines(reader, closing)
    saved = Saved(messages, (last_ns - first_ns) / NS_PER_S, missing, not missing)
    copy.close(_closing(saved, source, "cut_from"))
    return saved


def _piece_of(reader: BagReader, start_s: float, end_s: float) -> Iterator[RawMessage]:
    zero_ns: int | None = None
    latched: dict[str, RawMessage] = {}
    begun, shown = False, ShownFrom()
    for message in reader.messages():
        zero_ns = message.log_ns if zero_ns is None else zero_ns
        time_s = (message.log_ns - zero_ns) / NS_PER_S
        if time_s < start_s and message.topic in LATCHED:
            latched[message.topic] = message
        if start_s <= time_s <= end_s and shown.takes(message):
            if not begun:
                begun = True
                now = {"log_ns": message.log_ns, "publish_ns": message.log_ns}
                yield from (dataclasses.replace(kept, **now) for kept in latched.values())  # type: ignore[arg-type]
            yield message


def _other(source: EpisodeSource, out: Path, how: str, start_s: float, end_s: float) -> Saved:
    """Of another layout: its entries as an episode of ours."""
    entries = piece(source, start_s, end_s)
    if how == "cut_from":
        entries = _some(entries, source.path, start_s, end_s)
    writer = write_episode(source, entries, out, how)
    missing = source.missing if writer.entries else ("everything: nothing was there",)
    return Saved(writer.entries, writer.seconds, missing, not missing)


def _some(found: Iterator[Item], source: Path, start_s: float, end_s: float) -> Iterator[Item]:
    """The same, looked at before anything is made for it. Raises `EpisodeError` when it is empty."""
    first = next(found, None)
    if first is None:
        raise EpisodeError(
            f"{source} from {start_s:g} to {end_s:g} s",
            expected="messages",
            got="none",
            remedy="yam-robot episode info says how long it is",
        )
    return chain([first], found)


def _closing(saved: Saved, source: Path, how: str) -> dict[str, str]:
    return {
        "complete": "true" if saved.complete else "false",
        how: source.name,
        "messages": str(saved.messages),
        "seconds": f"{saved.seconds:.3f}",
        "missing": json.dumps(saved.missing),
    }
