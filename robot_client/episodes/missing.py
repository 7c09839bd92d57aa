"""What an episode does not have, in lines for people."""

from __future__ import annotations

import json

from robot_client.clock import NS_PER_S
from robot_client.episodes.reader import BagReader
from robot_client.episodes.topic_bag import TOPICS


def missing_lines(reader: BagReader, closing: dict[str, str]) -> tuple[str, ...]:
    """What an episode that was read to its end does not have; empty when it is complete."""
    lines = []
    for file, damage in reader.damages:
        count = "" if damage.messages is None else f", {damage.messages} messages"
        span = ""
        if damage.start_ns is not None and damage.end_ns is not None:
            span = f", {(damage.end_ns - damage.start_ns) / NS_PER_S:.2f} s"
        lines.append(f"{file.name} at byte {damage.offset}, {damage.length} bytes{count}{span}: {damage.what}")
    ours = "episode" in reader.notes and reader.notes["episode"].get("recorded") != TOPICS
    if ours and not closing:
        lines.append("the closing record: the recorder was ended before it could close the episode")
    if closing.get("complete") == "false":
        said = {key: closing.get(key) for key in ("trouble", "lost", "lost_before_the_recorder")}
        named = [f"{key}: {value}" for key, value in said.items() if value and value != "{}"]
        named = ["; ".join(named), *_of_its_source(closing.get("missing", ""))]
        lines += [line for line in named if line] or ["something: its closing record does not say what"]
    return tuple(lines)


def _of_its_source(text: str) -> list[str]:
    """Lines that a recovered, cut, imported or exported episode has of the one it was made of."""
    try:
        found = json.loads(text)
    except ValueError:
        return [text] if text else []
    return [str(line) for line in found] if isinstance(found, list) else [text]
