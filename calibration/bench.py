"""`python -m calibration.bench`: every routine on the twin, against the twin's true values. Writes a JSON of errors.

Each seed has other poses, delays and zero errors. A figure without a prefix is the worst of all seeds and arms; under
`median` is the median of the seeds' worsts, under `seeds` what each gave.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import tyro

from calibration import twin
from calibration.bench_parts import Figures, measured_delays, measured_eyes, measured_zeros
from contract.errors import ConfigurationError, StackError

Part = Literal["eyes", "latencies", "zeros"]
_PARTS: Final[dict[Part, Callable[..., Figures]]] = {
    "eyes": measured_eyes,
    "latencies": measured_delays,
    "zeros": measured_zeros,
}


@dataclass(frozen=True)
class Arguments:
    """Calibrate the twin and compare with what is true there."""

    json: Path = Path("out/bench/calibration.json")
    """File for the figures."""
    views: int = 30
    """Of each camera by each arm."""
    parts: tuple[Part, ...] = ("eyes", "latencies", "zeros")
    """What is measured; figures of other parts and seeds stay as they are in the file."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Which runs."""
    seconds: float = 4.0
    """Of each motion that a latency is measured with."""


def main() -> int:
    """Entry point."""
    arguments = tyro.cli(Arguments, prog="python -m calibration.bench")
    try:
        figures = bench(arguments, print)
    except StackError as error:
        print(f"calibration.bench: {error}", file=sys.stderr)
        return 1
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({key: value for key, value in figures.items() if key != "seeds"}, indent=1))
    return 0


def bench(arguments: Arguments, say: Callable[[str], None]) -> dict[str, Any]:
    """All figures: what is measured now, and what the file already had of other parts and seeds."""
    if not arguments.seeds or min(arguments.seeds) < 0:
        raise ConfigurationError("--seeds", expected="one or more, from 0 on", got=arguments.seeds)
    seeds = _kept(arguments.json)
    for seed in arguments.seeds:
        own = seeds.setdefault(str(seed), {})
        for part in arguments.parts:
            started_s = time.monotonic()
            figures = _PARTS[part](arguments.views, arguments.seconds, seed, say)
            own.update({name: round(value, 4) for name, value in figures.items()})
            own[f"{part}_wall_s"] = round(time.monotonic() - started_s, 1)
            own[f"{part}_views"] = arguments.views
            say(f"seed {seed}, {part}: {json.dumps(own)}")
    return summed(seeds, arguments.views)


def summed(seeds: dict[str, dict[str, float]], views: int) -> dict[str, Any]:
    """Worst and median over seeds of every figure, and what each seed gave."""
    every_name = dict.fromkeys(name for own in seeds.values() for name in own)
    names = [name for name in every_name if not name.endswith(("_wall_s", "_views"))]
    every = {name: [own[name] for own in seeds.values() if name in own] for name in names}
    return {
        **{name: max(values) for name, values in every.items()},
        "median": {name: float(np.median(values)) for name, values in every.items()},
        "views_per_camera_and_arm": views,
        "picture": list(twin.SIZE_PX),
        "simulated": True,
        "seeds": seeds,
    }


def _kept(file: Path) -> dict[str, dict[str, float]]:
    if not file.is_file():
        return {}
    found = json.loads(file.read_text(encoding="utf-8")).get("seeds", {})
    return found if isinstance(found, dict) else {}


if __name__ == "__main__":
    sys.exit(main())
