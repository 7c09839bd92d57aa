"""Pages for people, each in one file: a template, the style they share, and tables."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Final

_STYLE: Final = Path(__file__).with_name("style.html")


def page(template: Path, parts: dict[str, str]) -> str:
    """The template with its parts, which are HTML."""
    style = _STYLE.read_text(encoding="utf-8")
    return Template(template.read_text(encoding="utf-8")).substitute(style=style, **parts)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells are text."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def notice(text: str) -> str:
    """A box at the top; empty when there is nothing to say."""
    return f'<div class="notice">{html.escape(text)}</div>' if text else ""


def tiled(tiles: Sequence[tuple[str, str]]) -> str:
    """Names and figures, as tiles."""
    return "".join(
        f'<div class="tile"><b>{html.escape(figure)}</b><span>{html.escape(name)}</span></div>'
        for name, figure in tiles
    )
