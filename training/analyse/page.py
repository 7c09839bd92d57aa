"""The results page: one HTML file with everything in it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from training.analyse.imagined import read_imagined
from training.analyse.outcomes import Results
from training.analyse.section import Section, rate_text, table
from training.analyse.sections import ablation, guidance, imagination, phases, success, sweep


def page(found: dict[str, Any], results: Results, raw: Path) -> str:
    """HTML of the whole page."""
    made = [part.section(found, results) for part in (success, ablation, phases, sweep, guidance)]
    made.append(imagination.section(read_imagined(raw)))
    template = Template((files("training.analyse") / "page.html").read_text(encoding="utf-8"))
    return template.substitute(
        policy=escape(found["policy"]["name"] or "no policy"),
        tiles=_tiles(found),
        contents=_contents(made),
        sections="".join(_section(number, one) for number, one in enumerate(made, 1)),
        inventory=_inventory(results),
    )


def _tiles(found: dict[str, Any]) -> str:
    masked = found["ablation"]["masked"]
    shown = [
        ("seen pairs", rate_text(found["id_success"])),
        ("held-out pairs", rate_text(found["ood_success"]["off"])),
        ("held-out, adaptive guidance", rate_text(found["ood_success"]["adaptive"])),
        ("seen pairs, future masked", rate_text(masked["id"])),
        ("TR effect of phase, d", _number(found["tr_phase_effect"])),
        ("TR against gap, Spearman", _number(found["tr_ood_spearman"])),
    ]
    return "".join(_tile(name, text) for name, text in shown)


def _tile(name: str, text: str) -> str:
    count, _, share = text.partition(" = ")
    big, small = (share, count) if share else ("-" if len(text) > 12 else text, text if len(text) > 12 else "")
    return f"<div class=tile><b>{escape(big)}</b><span>{escape(name)}</span><i>{escape(small)}</i></div>"


def _number(one: dict[str, Any]) -> str:
    return "not run" if one["value"] is None else f"{one['value']:+.2f}"


def _contents(made: Sequence[Section]) -> str:
    return "".join(
        f'<tr><td><a href="#s{number}">{number}. {escape(one.title)}</a></td><td>{_badge(one)}</td>'
        f"<td>{escape(one.answer)}</td></tr>"
        for number, one in enumerate(made, 1)
    )


def _badge(one: Section) -> str:
    return f'<span class="badge {one.state.replace(" ", "-")}">{one.state}</span>'


def _section(number: int, one: Section) -> str:
    title = f'<h2 id="s{number}">{number}. {escape(one.title)} {_badge(one)}</h2>'
    return f"{title}<p class=answer>{escape(one.answer)}</p>{one.body}"


def _inventory(results: Results) -> str:
    rows = [
        (
            cell.policy,
            cell.what,
            ", ".join(cell.use),
            f"{cell.variant}, rotation {cell.rotation}, future {cell.future}, guidance {cell.method}",
            len(tried),
        )
        for cell, tried in results.cells
    ]
    told = table(("policy", "what", "counted for", "method", "trials"), rows)
    if results.undescribed:
        told += f"<p class=soft>Not described, so not counted: {escape(', '.join(results.undescribed))}</p>"
    return told
