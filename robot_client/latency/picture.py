"""The line as a picture: each stage from p50 to max, drawn one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

_COLOURS: Final = {"p50": "#3366aa", "p95": "#7aa6d8", "p99": "#c9dcf0"}


def draw(result: Mapping[str, Any], path: Path) -> None:
    """Write a PNG: a bar a stage, from where the medians before it end; thinner to p95 and p99, a mark at the max."""
    stages = {stage: figures for stage, figures in result["stages_ms"].items() if figures}
    figure = Figure(figsize=(10, 0.34 * max(len(stages), 4) + 1.4), layout="constrained")
    axes, start = figure.add_subplot(), 0.0
    for row, figures in enumerate(stages.values()):
        for column, height in (("p99", 0.3), ("p95", 0.5), ("p50", 0.8)):
            axes.barh(row, figures[column], height, left=start, color=_COLOURS[column])
        axes.plot(start + figures["max"], row, "|", color="#aa3333")
        start += figures["p50"]
    axes.set_yticks(range(len(stages)), [f"{name}  {figures['p50']:.2f}" for name, figures in stages.items()])
    axes.invert_yaxis()
    axes.set_xlabel("ms; broad p50, then p95, p99; red: max")
    axes.set_title(_title(result), fontsize=9)
    axes.grid(axis="x", alpha=0.25)
    FigureCanvasAgg(figure).print_png(str(path))


def _title(result: Mapping[str, Any]) -> str:
    whole = result["end_to_end_ms"]
    figures = "no movement seen" if whole is None else f"p50 {whole['p50']:.1f}, p99 {whole['p99']:.1f} ms"
    return f"light to motor: {figures}, {result['settings']['rig']} rig, {result['runs_on'].get('device')}"
