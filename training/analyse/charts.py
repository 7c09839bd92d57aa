"""Two kinds of chart as inline SVG: values with intervals on lines, and points on a plane. No library, no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_LINE_PX: Final = 26
_LEFT_PX: Final = 285
_PLOT_PX: Final = 440
_WIDTH_PX: Final = 900
_TOP_PX: Final = 8


@dataclass(frozen=True, slots=True)
class Mark:
    """One line of an interval chart; without a value it says why there is none."""

    label: str
    value: float | None
    low: float = 0.0
    high: float = 0.0
    note: str = ""
    tone: str = "blue"


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a scatter, with the ends of its whisker."""

    x: float
    y: float
    low: float
    high: float
    label: str


def intervals(marks: Sequence[Mark], low: float, high: float, ticks: Sequence[float], unit: str = "") -> str:
    """Dots with whiskers, one line each; the axis runs from `low` to `high`."""
    height = _TOP_PX + _LINE_PX * len(marks) + 24
    parts = [_axis(low, high, tick, height - 24, unit) for tick in ticks]
    for number, mark in enumerate(marks):
        middle = _TOP_PX + _LINE_PX * (number + 0.5)
        parts.append(_text(_LEFT_PX - 12, middle + 4, mark.label, "label end"))
        parts.append(_mark(mark, middle, low, high))
    return f'<svg viewBox="0 0 {_WIDTH_PX} {height}" role="img">{"".join(parts)}</svg>'


def scatter(points: Sequence[Point], x_label: str, y_label: str) -> str:
    """Labelled points, each with a whisker up and down, on axes fitted to them."""
    spans = _span([one.x for one in points]), _span([end for one in points for end in (one.low, one.high)])
    parts = ['<rect x="70" y="10" width="600" height="280" class="frame"/>']
    for one in points:
        across = 70 + 600 * _share(one.x, spans[0])
        low, high, down = (290 - 280 * _share(y, spans[1]) for y in (one.low, one.high, one.y))
        parts.append(f'<line x1="{across:.1f}" x2="{across:.1f}" y1="{low:.1f}" y2="{high:.1f}" class="blue bar"/>')
        parts.append(f'<circle cx="{across:.1f}" cy="{down:.1f}" r="5" class="blue dot"/>')
        parts.append(_text(across, high - 6, one.label, "small middle"))
    for (low, high), place in zip(spans, ("x", "y"), strict=True):
        for tick in (low, (low + high) / 2, high):
            share = _share(tick, (low, high))
            across, down = (70 + 600 * share, 306) if place == "x" else (62, 294 - 280 * share)
            parts.append(_text(across, down, f"{tick:.2f}", "small middle" if place == "x" else "small end"))
    parts.append(_text(370, 326, x_label, "label middle"))
    parts.append(f'<text transform="translate(16 150) rotate(-90)" class="label middle">{escape(y_label)}</text>')
    return f'<svg viewBox="0 0 {_WIDTH_PX} 335" role="img">{"".join(parts)}</svg>'


def _mark(mark: Mark, middle: float, low: float, high: float) -> str:
    if mark.value is None:
        return _text(_LEFT_PX + 4, middle + 4, mark.note or "not run", "none")
    ends = [_x(end, low, high) for end in (mark.low, mark.high, mark.value)]
    return (
        f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{middle}" y2="{middle}" class="{mark.tone} bar"/>'
        f'<circle cx="{ends[2]:.1f}" cy="{middle}" r="5" class="{mark.tone} dot"/>'
        + _text(_LEFT_PX + _PLOT_PX + 14, middle + 4, mark.note, "small")
    )


def _axis(low: float, high: float, tick: float, bottom: float, unit: str) -> str:
    x = _x(tick, low, high)
    shown = f"{100 * tick:.0f} %" if unit == "%" else f"{tick:g}{unit}"
    kind = "zero" if tick == 0 and low < 0 else "grid"
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP_PX}" y2="{bottom}" class="{kind}"/>' + _text(
        x, bottom + 16, shown, "small middle"
    )


def _x(value: float, low: float, high: float) -> float:
    return _LEFT_PX + _PLOT_PX * (min(max(value, low), high) - low) / (high - low)


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(text)}</text>'


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    spare = 0.12 * (high - low) or 0.1
    return low - spare, high + spare


def _share(value: float, span: tuple[float, float]) -> float:
    return (value - span[0]) / (span[1] - span[0])
