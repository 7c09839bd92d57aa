"""Lateness of two loops compared: percentiles with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_client.percentile import percentile

BLOCK: Final = 100
"""Ticks resampled together: lateness comes in bursts, and single ticks would pretend to be independent."""
WHOLE: Final = 5
"""From so many windows on, whole windows are resampled: bursts were seen to last longer than a block."""
RESAMPLES: Final = 1000

Lateness = NDArray[np.int64]


def compare(ours: Sequence[Lateness], bare: Sequence[Lateness]) -> dict[str, object]:
    """Percentiles of both [ms], their ratio and difference, each with the 95 % interval of a bootstrap.

    `ours`, `bare`: lateness in ns of each window. Keys: ours_ms, bare_ms, lateness_over_bare_p99, ..._p999,
    lateness_extra_ms_p99, ..._p999 and the same names with _ci95.
    """
    result: dict[str, object] = {"ours_ms": _summary(ours), "bare_ms": _summary(bare)}
    for name, percent in (("p99", 99.0), ("p999", 99.9)):
        drawn_ours, drawn_bare = _resampled(ours, percent, 1), _resampled(bare, percent, 2)
        point_ours, point_bare = (_percentile_ms(np.concatenate(windows), percent) for windows in (ours, bare))
        for key, relate in _RELATIONS.items():
            result[f"{key}_{name}"] = round(float(relate(point_ours, point_bare)), 4)
            result[f"{key}_{name}_ci95"] = _interval(relate(drawn_ours, drawn_bare))
        result["ours_ms"][f"{name}_ci95"] = _interval(drawn_ours)  # type: ignore[index]
        result["bare_ms"][f"{name}_ci95"] = _interval(drawn_bare)  # type: ignore[index]
    return result


_RELATIONS: Final[dict[str, Callable[[NDArray, NDArray], NDArray]]] = {
    "lateness_over_bare": lambda ours, bare: ours / np.maximum(bare, 1e-6),
    "lateness_extra_ms": lambda ours, bare: ours - bare,
}


def _summary(windows: Sequence[Lateness]) -> dict[str, object]:
    ms = np.concatenate(windows) / 1e6
    percents = {"p50": 50.0, "p99": 99.0, "p999": 99.9}
    return {
        "ticks": len(ms),
        **{name: round(percentile(ms, percent), 4) for name, percent in percents.items()},
        "max": round(float(ms.max()), 4),
    }


def _percentile_ms(lateness_ns: Lateness, percent: float) -> NDArray[np.float64]:
    return np.asarray(percentile(lateness_ns, percent) / 1e6)


def _resampled(windows: Sequence[Lateness], percent: float, seed: int) -> NDArray[np.float64]:
    """(RESAMPLES,) percentiles [ms] over windows, or blocks of few windows, drawn with replacement."""
    random = np.random.default_rng(seed)
    if len(windows) >= WHOLE:
        chosen = random.integers(0, len(windows), (RESAMPLES, len(windows)))
        return np.array([_percentile_ms(np.concatenate([windows[i] for i in row]), percent) for row in chosen])
    blocks = [window[i : i + BLOCK] for window in windows for i in range(0, len(window) - BLOCK + 1, BLOCK)]
    table = np.array(blocks or [np.concatenate(windows)])
    draws = (table[random.integers(0, len(table), len(table))] for _ in range(RESAMPLES))
    return np.array([_percentile_ms(draw.ravel(), percent) for draw in draws])


def _interval(values: NDArray[np.float64]) -> list[float]:
    return [round(float(value), 4) for value in np.percentile(values, (2.5, 97.5))]
