"""`python -m robot_client.twin.bench`: what a picture and a second of the twin cost on this machine, as JSON."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tyro

from contract.errors import ConfigurationError, StackError
from robot_client.twin import gl
from robot_client.twin.settings import OVERVIEW_HZ, POLICY_HZ

if TYPE_CHECKING:
    from robot_client.twin.twin import Twin

_WARM_UP = 5
_PHYSICS_STEPS = 4000
_POLICY_LIMIT_MS = 15.0


@dataclass(frozen=True)
class Arguments:
    """Measure rendering and physics of the twin."""

    repeats: int = 60
    """Pictures of each kind, warm-up not counted."""
    json: Path | None = None
    """File to write the figures to as well."""


def main() -> int:
    """Entry point; 0 when the three policy cameras together stay below 15 ms."""
    arguments = tyro.cli(Arguments, prog="python -m robot_client.twin.bench")
    try:
        if arguments.repeats < 1:
            raise ConfigurationError("repeats", expected="at least 1", got=arguments.repeats)
        backend = gl.choose()
        figures = measure(arguments.repeats) | {"opengl": backend}
    except StackError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    text = json.dumps(figures, indent=1)
    print(text)
    if arguments.json is not None:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(text + "\n")
    return 0 if figures["policy_cameras_ms_p50"] < _POLICY_LIMIT_MS else 1


def measure(repeats: int) -> dict[str, Any]:
    """All figures. Wall times in ms; `cpu` is the process's time over wall time, threads of the renderer included."""
    import mujoco

    from robot_client.twin.cameras import OVERVIEW, POLICY_ROLES
    from robot_client.twin.twin import make_twin

    build_s, twin = _timed(make_twin)
    twin.reset(1)
    figures: dict[str, Any] = {"mujoco": mujoco.__version__, "build_ms": 1000 * build_s}
    for role in (*POLICY_ROLES, OVERVIEW):
        figures |= _repeat(lambda role=role: twin.render(role), repeats, role)  # type: ignore[misc]
    figures |= _repeat(lambda: twin.frames(POLICY_ROLES), repeats, "policy_cameras")
    shaded = make_twin(shadows=True)
    shaded.reset(1)
    figures |= _repeat(lambda: shaded.render(OVERVIEW), max(5, repeats // 4), "overview_with_shadows")
    figures |= _physics(twin)
    figures |= _headroom(figures)
    shaded.close()
    twin.close()
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in figures.items()}


def _physics(twin: Twin) -> dict[str, float]:
    from robot_client.twin.scene import STEP_S

    seconds, _ = _timed(lambda: twin.world.step(_PHYSICS_STEPS))
    return {
        "physics_steps_per_s": _PHYSICS_STEPS / seconds,
        "physics_times_real_time": _PHYSICS_STEPS * STEP_S / seconds,
    }


def _headroom(figures: dict[str, Any]) -> dict[str, float]:
    """Share of one core that real time takes at the default rates, from processor time."""
    pictures = POLICY_HZ * figures["policy_cameras_cpu_ms"] + OVERVIEW_HZ * figures["overview_cpu_ms"]
    busy = 1.0 / figures["physics_times_real_time"] + pictures / 1000.0
    return {"core_share_at_default_rates": busy, "real_time_headroom": 1.0 - busy}


def _repeat(work: Callable[[], object], repeats: int, name: str) -> dict[str, float]:
    for _ in range(_WARM_UP):
        work()
    cpu_start_s = time.process_time()
    times_ms = sorted(1000 * _timed(work)[0] for _ in range(repeats))
    cpu_ms = 1000 * (time.process_time() - cpu_start_s) / repeats
    return {
        f"{name}_ms_p50": statistics.median(times_ms),
        f"{name}_ms_p95": times_ms[min(len(times_ms) - 1, int(0.95 * len(times_ms)))],
        f"{name}_cpu_ms": cpu_ms,
    }


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start_s = time.perf_counter()
    result = work()
    return time.perf_counter() - start_s, result


if __name__ == "__main__":
    sys.exit(main())
