"""Loop, planner and server driving the ideal rig for minutes or hours, looked at now and then."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from contract.errors import ConfigurationError
from robot_client.faults.stage import Stage
from robot_client.soak.memory import Sample, judge, look

SAMPLE_S: Final = 5.0
_SAY_S: Final = 60.0
_STANDING: Final = ("HOLD", "IDLE")


@dataclass(slots=True)
class Seen:
    """What a soak has shown so far."""

    samples: dict[str, list[Sample]] = field(default_factory=dict)
    ticks: int = 0
    replans: int = 0
    failures: int = 0
    holds: int = 0
    """Engagements after the first: the arms had held, on a busy machine for want of a plan in time."""
    skipped: int = 0


def soak(
    path: Path, minutes: float, bundle: Path | None, instruction: str, say: Callable[[str], None]
) -> dict[str, Any]:
    """Run, write `path`, and return what was written."""
    if not 0.1 <= minutes <= 7 * 24 * 60:
        raise ConfigurationError("minutes", expected="0.1 to 10080", got=minutes)
    seen = Seen()
    with Stage(bundle, instruction) as stage:
        stage.fit_robot("")
        begun_s = time.monotonic()
        next_say_s = _SAY_S
        while (at_s := time.monotonic() - begun_s) < 60.0 * minutes:
            _drive(stage, seen, SAMPLE_S)
            _sample(stage, seen, time.monotonic() - begun_s)
            if at_s >= next_say_s:
                next_say_s += _SAY_S
                say(_line(seen, at_s))
        return _write(path, seen, minutes, bundle)


def _drive(stage: Stage, seen: Seen, seconds: float) -> None:
    """Keep the policy engaged for so long."""
    robot = stage.robot
    until_s = time.monotonic() + seconds
    while (left_s := until_s - time.monotonic()) > 0.0:
        if robot.mode in _STANDING:
            seen.holds += bool(seen.ticks)
            robot.person("engage")
            stage.run(lambda: robot.mode not in _STANDING, min(1.0, left_s))
        stage.run(lambda: robot.mode in _STANDING, left_s)
    seen.ticks += sum(len(batch.mode) for batch in robot.batches)
    seen.skipped += sum(int(batch.skipped.sum()) for batch in robot.batches)
    seen.replans += len(robot.records)
    seen.failures += len(robot.failures)
    robot.forget()


def _sample(stage: Stage, seen: Seen, at_s: float) -> None:
    processes = {
        "loop": stage.robot.loop.process.pid,
        "planner": stage.robot.planner.process.pid,
        "server": stage.server.process.pid,
        "supervisor": os.getpid(),
    }
    for name, pid in processes.items():
        seen.samples.setdefault(name, []).append(look(pid, at_s))


def _line(seen: Seen, at_s: float) -> str:
    memory = ", ".join(f"{name} {samples[-1].rss_mb:.1f} MB" for name, samples in seen.samples.items())
    return f"{at_s / 60.0:6.1f} min  {seen.ticks} ticks, {seen.replans} replans, {seen.holds} holds; {memory}"


def _write(path: Path, seen: Seen, minutes: float, bundle: Path | None) -> dict[str, Any]:
    processes = {name: judge(samples) for name, samples in seen.samples.items()}
    flats = [process["flat"] for process in processes.values()]
    result = {
        "minutes": minutes,
        "flat": None if None in flats else all(flats),
        "rig": "ideal: no arms",
        "server": "scripted, no policy" if bundle is None else bundle.name,
        "processes": processes,
        "ticks": seen.ticks,
        "periods_skipped": seen.skipped,
        "replans": seen.replans,
        "failed_requests": seen.failures,
        "holds": seen.holds,
        "load_average": round(os.getloadavg()[0], 2),
        "samples": {name: [asdict(sample) for sample in samples] for name, samples in seen.samples.items()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result
