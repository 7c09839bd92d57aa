"""One numbered part of the page, and the small pieces of HTML that all parts use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from training.analyse.charts import Mark
from training.analyse.entry import Entry

State = Literal["measured", "partly", "not run"]


@dataclass(frozen=True, slots=True)
class Section:
    """`answer`: the sentence to read if only one is read."""

    title: str
    state: State
    answer: str
    body: str


def state_of(entries: Sequence[Entry]) -> State:
    """measured when all have a value, not run when none has."""
    have = [one["value"] is not None for one in entries]
    return "measured" if all(have) else "partly" if any(have) else "not run"


def rate_text(one: Entry) -> str:
    """`113/120 = 94.2 %`, or why not."""
    if one["value"] is None:
        return str(one["reason"])
    return f"{round(one['value'] * one['count'])}/{one['count']} = {100 * one['value']:.1f} %"


def span_text(one: Entry, digits: int = 2, unit: str = "") -> str:
    """`0.04 (-0.05 to 0.13)`, or why not."""
    if one["value"] is None:
        return str(one["reason"])
    low, high = one["interval"]
    return f"{one['value']:.{digits}f}{unit} ({low:.{digits}f} to {high:.{digits}f})"


def points_text(one: Entry) -> str:
    """A difference of rates in percentage points."""
    if one["value"] is None:
        return str(one["reason"])
    low, high = (100 * end for end in one["interval"])
    return f"{100 * one['value']:+.1f} points ({low:+.1f} to {high:+.1f})"


def mark(label: str, one: Entry, note: str = "", tone: str = "blue") -> Mark:
    """The entry as a line of a chart."""
    if one["value"] is None:
        return Mark(label, None, note=str(one["reason"]))
    return Mark(label, one["value"], *one["interval"], note=note, tone=tone)


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Rows of text; first column to the left."""
    heads = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def paragraph(text: str, soft: bool = False) -> str:
    """A paragraph of plain text."""
    return f"<p{' class=soft' if soft else ''}>{escape(text)}</p>"


def resolved(one: Entry) -> bool:
    """Whether a difference's interval leaves out zero."""
    return one["value"] is not None and (one["interval"][0] > 0 or one["interval"][1] < 0)
