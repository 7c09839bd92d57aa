"""Pictures of residuals, to be looked at: a number says how much, a picture where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibration.eyes import Eye
from calibration.intrinsics import Intrinsics
from calibration.zero_references import Zero
from calibration.zeros import SUSPECT_RAD
from contract.layout import Arm


def _figure(path: Path, columns: int) -> tuple[Any, Sequence[Any]]:
    # The object interface: no window, no global state, whatever backend a person has chosen.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    path.parent.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(5.0 * columns, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(np.atleast_1d(figure.subplots(1, columns)))


def _whole_numbers(axis: Any) -> None:
    """Views and poses are counted."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


def _headroom(axes: Any) -> None:
    """For the legend, above all bars."""
    axes.set_ylim(0.0, 1.25 * axes.get_ylim()[1])
    axes.legend(loc="upper right", fontsize=8)


def plot_intrinsics(path: Path, role: str, found: Intrinsics) -> None:
    """Error of each view, and where in the picture corners were seen and which way they are off: arrows that point
    outward or round and round are a lens that is not as fitted."""
    figure, (bars, map_) = _figure(path, 2)
    bars.bar(range(len(found.per_view_px)), found.per_view_px)
    bars.axhline(found.held_out_px, linestyle="--", color="black", label=f"held-out views: {found.held_out_px:.3f} px")
    bars.set(title=f"{role}: reprojection error", xlabel="fitted view", ylabel="RMS [px]")
    _whole_numbers(bars.xaxis)
    _headroom(bars)
    length = np.linalg.norm(found.errors_px, axis=1)
    longer = 20.0 / max(float(np.percentile(length, 95)), 1e-6)
    arrows = map_.quiver(
        *found.corners_px.T, *found.errors_px.T, length, angles="xy", scale_units="xy", scale=1.0 / longer, width=0.003
    )
    figure.colorbar(arrows, ax=map_, label="error [px]", shrink=0.8)
    map_.set(xlim=(0, found.camera.width), ylim=(found.camera.height, 0), xlabel="x [px]", ylabel="y [px]")
    map_.set_title(f"corners and their errors, {longer:.0f} times as long; {found.covered:.0%} covered", fontsize=9)
    map_.set_aspect("equal")
    figure.savefig(path)


def plot_eye(path: Path, name: str, found: Eye) -> None:
    """Residual of each pose, and how far each solver is from the refined result."""
    figure, (metres, degrees) = _figure(path, 2)
    metres.bar(range(found.poses), 1e3 * found.result.residuals_m)
    metres.axhline(
        1e3 * found.held_out_m, linestyle="--", color="black", label=f"held-out poses: {1e3 * found.held_out_m:.2f} mm"
    )
    metres.set(title=f"{name}: place of the board", xlabel="fitted pose", ylabel="residual [mm]")
    degrees.bar(range(found.poses), np.degrees(found.result.residuals_rad))
    held_deg = float(np.degrees(found.held_out_rad))
    degrees.axhline(held_deg, linestyle="--", color="black", label=f"held-out poses: {held_deg:.3f} degrees")
    degrees.set(xlabel="fitted pose", ylabel="residual [degrees]")
    solvers = ", ".join(f"{key} {1e3 * apart[0]:.2f} mm" for key, apart in found.result.solvers.items())
    degrees.set_title(f"apart: {solvers}", fontsize=8)
    for axes in (metres, degrees):
        _whole_numbers(axes.xaxis)
        _headroom(axes)
    figure.savefig(path)


def plot_latencies(path: Path, latencies: Mapping[str, tuple[float, float]]) -> None:
    """Name -> latency and uncertainty [ms]."""
    figure, (bars,) = _figure(path, 1)
    values = np.array(list(latencies.values()))
    bars.barh(range(len(values)), values[:, 0], xerr=values[:, 1], capsize=3)
    bars.set_yticks(range(len(values)), [f"{name}  {ms:.1f}" for name, (ms, _) in latencies.items()])
    bars.invert_yaxis()
    bars.set(title="delays", xlabel="latency [ms], 95 % interval")
    figure.savefig(path)


def plot_zeros(path: Path, offsets_rad: Mapping[Arm, NDArray[np.float64]]) -> None:
    """Zero error of each joint, by arm."""
    figure, (bars,) = _figure(path, 1)
    for i, (arm, offsets) in enumerate(offsets_rad.items()):
        bars.bar(np.arange(len(offsets)) + 0.4 * i, 1e3 * np.asarray(offsets), width=0.4, label=arm)
    bars.set(title="joints at the park pose", xlabel="joint", ylabel="measured less told [mrad]")
    bars.set_xticks(np.arange(6) + 0.2, range(1, 7))
    bars.axhline(0.0, color="black", linewidth=0.8)
    widest = max(1.0, *(1.1e3 * float(np.abs(offsets).max()) for offsets in offsets_rad.values()))
    bars.set_ylim(-widest, widest)
    bars.legend(fontsize=8)
    figure.savefig(path)


def plot_zeros_seen(path: Path, found: Mapping[Arm, Mapping[int, Zero]]) -> None:
    """Zero error of each joint with three standard deviations, by arm; joints that were not seen are empty."""
    figure, (axes,) = _figure(path, 1)
    for i, (arm, zeros) in enumerate(found.items()):
        joints = np.array(sorted(zeros))
        offsets = 1e3 * np.array([zeros[joint].offset_rad for joint in joints])
        wide = 3e3 * np.array([zeros[joint].uncertainty_rad for joint in joints])
        axes.errorbar(joints + 0.16 * i - 0.08, offsets, yerr=wide, fmt="o", capsize=3, label=f"{arm} arm")
    axes.axhspan(-1e3 * SUSPECT_RAD, 1e3 * SUSPECT_RAD, color="0.92", label="not suspected")
    axes.set(title="zeros against what no joint turns", xlabel="joint", ylabel="reads too much by [mrad]")
    axes.set(xlim=(0.5, 6.5), xticks=range(1, 7))
    axes.legend(fontsize=8)
    figure.savefig(path)


def plot_tr(path: Path, by_phase: Mapping[str, Sequence[float]], ranks: tuple[float, float]) -> None:
    """Distribution of TR, with the ranks between which guidance rises."""
    figure, (bars,) = _figure(path, 1)
    names = sorted(by_phase)
    bars.hist([by_phase[name] for name in names], bins=40, stacked=True, label=[name or "all" for name in names])
    whole = np.concatenate([np.asarray(by_phase[name]) for name in names])
    for rank, label in zip(ranks, ("q_lo", "q_hi"), strict=True):
        bars.axvline(float(np.quantile(whole, rank)), linestyle="--", color="black", label=f"{label} {rank:g}")
    bars.set(xlabel="Temporal Ratio", ylabel="replans")
    bars.legend()
    figure.savefig(path)
