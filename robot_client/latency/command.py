"""`yam-robot bench latency`."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console

from contract.errors import ConfigurationError
from contract.station import load_station
from robot_client.clock import NS_PER_MS
from robot_client.latency.emulated import emulated_arms
from robot_client.latency.result import result_of
from robot_client.latency.session import Session
from robot_client.latency.settings import LatencySettings
from robot_client.latency.table import compared, lines_of, table_of

_WIDTH = 150


def bench_latency(settings: LatencySettings, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Measure one run and return what is written of it. Raises `StackError` when the line does not start."""
    settings.check()
    emulated = settings.rig == "yam" and not settings.station
    with emulated_arms(settings) if emulated else nullcontext(settings) as ready:
        observed = Session(ready, say).conduct()
        budget_ns = int(load_station(ready.station).timing.answer_budget_ms * NS_PER_MS)
    described = {
        "rig": settings.rig,
        "arms": "EMULATED motors" if emulated else settings.rig,
        "station": settings.station,
        "server": settings.server or f"own, bundle {settings.bundle.name if settings.bundle else ''}",
        "seconds": settings.seconds,
        "start_every_s": settings.start_every_s,
        "seed": settings.seed,
    }
    return {**result_of(observed, budget_ns, settings.warm_up), "settings": described, "stops": list(observed.stops)}


def write(result: dict[str, Any], path: Path) -> Path | None:
    """The JSON, and beside it the picture, whose path is returned; None without the library that draws it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    try:
        from robot_client.latency.picture import draw
    except ModuleNotFoundError:  # the robot side alone comes without matplotlib
        return None
    picture = path.with_suffix(".png")
    draw(result, picture)
    return picture


def show(result: dict[str, Any]) -> None:
    """The table and the lines under it."""
    console = _console()
    console.print(table_of(result))
    for line in lines_of(result):
        console.print(line, highlight=False, soft_wrap=True)


def compare_files(paths: tuple[Path, Path]) -> None:
    """Two results beside each other. Raises `ConfigurationError` for what is no result."""
    a, b = (_read(path) for path in paths)
    names = (paths[0].stem, paths[1].stem) if paths[0].stem != paths[1].stem else ("first", "second")
    console = _console()
    console.print(compared(a, b, names))
    for name, result in zip(names, (a, b), strict=True):
        console.print(f"{name}: {result['settings']}, underruns {result['underruns']}", highlight=False, soft_wrap=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path}", expected="a result of bench latency", got=str(error)[:200]) from error
    if not isinstance(result, dict) or not {"stages_ms", "settings", "underruns"} <= set(result):
        raise ConfigurationError(f"{path}", expected="a result of bench latency", got="another file")
    return result


def _console() -> Console:
    console = Console(markup=False)
    return console if console.is_terminal else Console(markup=False, width=_WIDTH)
