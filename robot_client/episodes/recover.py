"""Saves what can be read of a damaged episode, and cuts a piece out of a whole one. The source is never changed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_S
from robot_client.episodes.bag import CLOSING
from robot_client.episodes.copy import BagCopy
from robot_client.episodes.reader import BagReader


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
    reader = BagReader(source, tolerant=True)
    copy = BagCopy(out)
    copy.open()
    messages, start_ns, end_ns = 0, 0, 0
    for message in reader.messages():
        copy.add(message)
        start_ns = message.log_ns if not messages else min(start_ns, message.log_ns)
        end_ns = max(end_ns, message.log_ns)
        messages += 1
    closing = reader.notes.pop(CLOSING, {})
    for name, values in reader.notes.items():
        copy.note(name, values)
    missing = missing_lines(reader, closing)
    saved = Saved(messages, (end_ns - start_ns) / NS_PER_S, missing, not missing)
    copy.close({**closing, **_closing(saved, source, "recovered_from")})
    return saved


def cut(source: Path, out: Path, start_s: float, end_s: float) -> Saved:
    """Messages from `start_s` to `end_s`, counted from the first message, as a new bag in `out`.

    Raises `EpisodeError` when the source is damaged or nothing lies in between.
    """
    if not 0.0 <= start_s < end_s:
        raise EpisodeError("piece", expected="0 <= start < end [s]", got=f"{start_s} to {end_s}")
    reader, copy = BagReader(source), BagCopy(out)
    copy.open()
    messages, zero_ns, last_ns = 0, -1, 0
    for message in reader.messages():
        zero_ns = message.log_ns if zero_ns < 0 else zero_ns
        if start_s <= (message.log_ns - zero_ns) / NS_PER_S <= end_s:
            copy.add(message)
            messages, last_ns = messages + 1, message.log_ns
    closing = reader.notes.pop(CLOSING, {})
    for name, values in reader.notes.items():
        copy.note(name, values)
    missing = missing_lines(reader, closing) if messages else ("everything: nothing lies in this piece",)
    saved = Saved(messages, max(0.0, (last_ns - zero_ns) / NS_PER_S - start_s), missing, not missing)
    copy.close(_closing(saved, source, "cut_from"))
    return saved


def missing_lines(reader: BagReader, closing: dict[str, str]) -> tuple[str, ...]:
    """What an episode that was read to its end does not have; empty when it is complete."""
    lines = []
    for file, damage in reader.damages:
        count = "" if damage.messages is None else f", {damage.messages} messages"
        span = ""
        if damage.start_ns is not None and damage.end_ns is not None:
            span = f", {(damage.end_ns - damage.start_ns) / NS_PER_S:.2f} s"
        lines.append(f"{file.name} at byte {damage.offset}, {damage.length} bytes{count}{span}: {damage.what}")
    if "episode" in reader.notes and not closing:
        lines.append("the closing record: the recorder was ended before it could close the episode")
    if closing.get("complete") == "false":
        said = {key: closing.get(key) for key in ("trouble", "lost", "lost_before_the_recorder", "missing")}
        lines.append("; ".join(f"{key}: {value}" for key, value in said.items() if value and value != "{}"))
    return tuple(lines)


def _closing(saved: Saved, source: Path, how: str) -> dict[str, str]:
    return {
        "complete": "true" if saved.complete else "false",
        how: source.name,
        "messages": str(saved.messages),
        "seconds": f"{saved.seconds:.3f}",
        "missing": json.dumps(saved.missing),
    }
