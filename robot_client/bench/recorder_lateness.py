"""What a recorder does to the loop's lateness: windows with one and without, in turns, on the same rig.

In both kinds the same process writes the same cameras; only the recorder is there or not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.station import load_station
from robot_client.bench.fed_cameras import FedCameras
from robot_client.bench.lateness import compare
from robot_client.bench.loop_window import LoopWindow, loop_window
from robot_client.bench.recorded_line import LOOP_HZ, recorded_line, write_station
from robot_client.bench.stand import Stand

NOTHING_MS: Final = 0.05
"""Less than this at p99 counts as nothing: a hundredth of the loop's period."""


def recorder_lateness(folder: Path, windows: int, window_s: float, say: Callable[[str], None]) -> dict[str, Any]:
    """As `lateness.compare`, ours = recorded, bare = alone; and `adds_nothing`: True, False, or None when the interval
    of the difference at p99 does not decide."""
    ticks = int(window_s * LOOP_HZ)
    lateness: dict[str, list[NDArray[np.int64]]] = {"recorded": [], "alone": []}
    with Stand(folder, "ideal", float(LOOP_HZ)) as stand:
        for number in range(windows):
            for kind in ("recorded", "alone") if number % 2 == 0 else ("alone", "recorded"):
                place = folder / f"{kind}{number}"
                place.mkdir()
                window = (_recorded if kind == "recorded" else _alone)(place, ticks, stand)
                lateness[kind].append(np.concatenate(window.lateness_ns))
                p99_ms = np.percentile(lateness[kind][-1], 99) / 1e6
                say(f"window {number + 1}/{windows} {kind}: p99 {p99_ms:.3f} ms")
    result = compare(lateness["recorded"], lateness["alone"])
    each = {kind: [round(float(np.percentile(w, 99)) / 1e6, 4) for w in found] for kind, found in lateness.items()}
    return {**result, "p99_ms_each_window": each, "adds_nothing": adds_nothing(result["lateness_extra_ms_p99_ci95"])}


def adds_nothing(interval_ms: Any) -> bool | None:
    """Whether the whole 95 % interval of the extra lateness lies below `NOTHING_MS`; None when it has it inside."""
    low_ms, high_ms = interval_ms
    return None if low_ms <= NOTHING_MS < high_ms else bool(high_ms <= NOTHING_MS)


def _recorded(folder: Path, ticks: int, stand: Stand) -> LoopWindow:
    with recorded_line(folder, write_station(folder)) as line:
        return loop_window(folder, ticks, stand, line.loop_end, line.tend)


def _alone(folder: Path, ticks: int, stand: Stand) -> LoopWindow:
    station = load_station(str(write_station(folder)))
    cameras = FedCameras(folder, [camera.role for camera in station.cameras])
    cameras.open()
    try:
        return loop_window(folder, ticks, stand, tend=cameras.tend)
    finally:
        cameras.close()
