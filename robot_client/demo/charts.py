"""Charts of one run as inline SVG."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, Final

import matplotlib

matplotlib.use("svg")

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import NDArray

from contract.layout import CHANNELS, GRIPPER_MASK

_STYLE: Final[Any] = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "svg.fonttype": "none",
    "svg.hashsalt": "yam",
    "legend.frameon": False,
}


def ratio_and_scales(
    times_s: NDArray, ratio: NDArray, rank: NDArray, scales: Mapping[str, NDArray], branches: Sequence[int]
) -> str:
    """TR at every replan, its rank among calibrated replans, and the scales set from it."""
    with plt.rc_context(_STYLE):
        figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(9, 5.6), sharex=True, layout="constrained")
        top.plot(times_s, ratio, ".-", color="#3366aa", linewidth=1)
        top.set_ylabel("Temporal Ratio")
        middle.plot(times_s, rank, ".-", color="#7a5195", linewidth=1)
        middle.set_ylabel("rank of TR")
        middle.set_ylim(-0.05, 1.05)
        for (name, values), colour in zip(scales.items(), ("#d1495b", "#2e8b57"), strict=False):
            bottom.step(times_s, values, where="post", label=f"w_{name}", color=colour)
        bottom.scatter(times_s, np.zeros(len(times_s)), c=[_BRANCH_COLOURS[n] for n in branches], s=12, zorder=3)
        bottom.set_ylabel("guidance scale")
        bottom.set_xlabel("time from engagement [s] (dots: 1 / 2 / 3 branches run)")
        bottom.legend(loc="upper right", ncols=2)
        return _svg(figure)


_BRANCH_COLOURS = {0: "#999999", 1: "#b9c4d0", 2: "#f0a202", 3: "#d1495b"}


def stage_latencies(stages_ms: Mapping[str, NDArray]) -> str:
    """Median of every stage with a mark at its 95th percentile."""
    names = list(stages_ms)
    medians = [float(np.median(stages_ms[name])) for name in names]
    tails = [float(np.percentile(stages_ms[name], 95)) for name in names]
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(9, 0.34 * len(names) + 1.0), layout="constrained")
        axes.barh(names, medians, color="#3366aa", height=0.6)
        axes.plot(tails, names, "|", color="#d1495b", markersize=12, markeredgewidth=2)
        axes.invert_yaxis()
        axes.set_xlabel("ms per replan (bar: median, red mark: p95)")
        return _svg(figure)


def asked_told(times_s: NDArray, asked: NDArray, told: NDArray, measured: NDArray) -> str:
    """All 14 channels: what the policy asked, what safety let pass, what the arm did. Arrays are (ticks, 14)."""
    with plt.rc_context(_STYLE):
        figure, grid = plt.subplots(7, 2, figsize=(9, 11), sharex=True)
        figure.subplots_adjust(
            left=0.06, right=0.99, top=0.98, bottom=0.04, wspace=0.12, hspace=0.28
        )  # fast to lay out
        for channel, axes in enumerate(grid.T.flat):
            axes.plot(times_s, asked[:, channel], color="#f0a202", linewidth=1.6, label="asked")
            axes.plot(times_s, told[:, channel], color="#3366aa", linewidth=1.0, label="told")
            axes.plot(times_s, measured[:, channel], color="#2e8b57", linewidth=0.8, label="measured")
            unit = "opening" if GRIPPER_MASK[channel] else "rad"
            axes.set_title(f"{CHANNELS[channel]} [{unit}]", fontsize=8, loc="left")
        grid[0, 0].legend(loc="upper right", ncols=3, fontsize=7)
        for axes in grid[-1]:
            axes.set_xlabel("time [s]")
        return _svg(figure)


def branch_counts(counts: Mapping[str, int]) -> str:
    """How many replans ran 1, 2 and 3 branches."""
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(9, 1.7), layout="constrained")
        bars = axes.barh(list(counts), list(counts.values()), color=list(_BRANCH_COLOURS.values())[1:], height=0.6)
        axes.bar_label(bars, padding=4)
        axes.invert_yaxis()
        axes.set_xlabel("replans")
        return _svg(figure)


def then_and_now(
    rows: NDArray, ratio_was: NDArray, ratio_is: NDArray, rows_off: NDArray, scales_off: NDArray, tolerance: float
) -> str:
    """A replay through the policy: TR then and now, and how far rows and scales are off (0 is not drawn)."""
    with plt.rc_context(_STYLE):
        figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 4.6), sharex=True, layout="constrained")
        top.plot(rows, ratio_was, "o-", color="#b9c4d0", markersize=6, linewidth=1, label="then")
        top.plot(rows, ratio_is, ".-", color="#3366aa", markersize=5, linewidth=1, label="now")
        top.set_ylabel("Temporal Ratio")
        top.legend(loc="upper right", ncols=2)
        for values, label, colour in ((rows_off, "rows [rad, opening]", "#d1495b"), (scales_off, "scales", "#2e8b57")):
            bottom.plot(rows, np.where(values > 0, values, np.nan), ".", color=colour, label=label)
        bottom.axhline(tolerance, color="#5b6675", linewidth=0.8, linestyle="--", label="tolerance of rows")
        bottom.set_yscale("log")
        bottom.set_ylim(bottom=min(tolerance, 1e-6) / 10)
        bottom.set_ylabel("off")
        bottom.set_xlabel("first row of the replan")
        bottom.legend(loc="upper right", ncols=3)
        return _svg(figure)


def _svg(figure: Figure) -> str:
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    plt.close(figure)
    text = out.getvalue()
    return text[text.index("<svg") :]
