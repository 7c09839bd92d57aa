"""`yam-robot bench episodes`: what recording costs, what it does to the loop, and how fast an episode is read."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from contract.errors import ConfigurationError
from robot_client.bench.fed_cameras import CAMERA_HZ
from robot_client.bench.process_cost import cpu_s, peak_mb
from robot_client.bench.reading import readings
from robot_client.bench.recorded_line import recorded_line, write_station
from robot_client.bench.recorder_lateness import NOTHING_MS, recorder_lateness
from robot_client.bench.reporting import reporting_us
from robot_client.episodes.channels import camera_topic
from robot_client.episodes.info import info_of
from robot_client.episodes.reader import BagReader
from robot_client.latency.result import machine
from robot_client.rigs.sim import ROLES

MOST_CORE: Final = 0.4
LEAST_SPEED: Final = 20.0
_MOST_GROWTH_MB: Final = 20.0
_SETTLE_S: Final = 1.0
_DEFINITION: Final = {
    "recorder_core": "CPU seconds of the recorder's process, all threads, for each second's worth of frames in the bag "
    "(90): three 640x480 cameras at 30 Hz as JPEG 90, 200 ticks a second",
    "kept_share": "frames in the bag over those that 30 Hz would have given; a busy machine loses some",
    "recorder_core_with_observations": "the same with 2.5 observations a second of three 640x480 images as png",
    "reporting_us": "CPU time that the loop's own thread spends a tick on its reports, without and with a recorder",
    "lateness": "the loop at 200 Hz beside the running recorder (ours) and without any (bare), windows in turns; the "
    f"same cameras are written in both; adds_nothing: the interval of the difference at p99 is below {NOTHING_MS:g} ms",
    "times_real_time": "seconds of an episode per CPU second of the whole process, and per second on the clock: all "
    "messages read; read and decoded from CDR; entries (joints as vectors, pictures left compressed); every camera "
    "frame to RGB as well, on all cores",
    "growth_mb": "largest resident size of a whole read less that of a read of its first third, without pixels",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    seconds: float = 24.0
    """Of recording, half of it with observations."""
    windows: int = 5
    """Of the loop, with and without a recorder each; 0 = left out."""
    window_s: float = 10.0

    def check(self) -> None:
        """Raises `ConfigurationError` for what cannot be measured."""
        if not 12.0 <= self.seconds <= 3600.0 or self.windows < 0 or not 1.0 <= self.window_s <= 600.0:
            raise ConfigurationError("bench episodes", expected="seconds 12..3600, window 1..600 s", got=self)


def bench_episodes(path: Path, plan: Plan, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Measure, write `path`, and return what was written."""
    plan.check()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as name:  # on a disk, as episodes are, not in memory
        folder = Path(name)
        recording, episode = _record(folder, plan.seconds)
        result = {
            **recording,
            "reporting_us": reporting_us(),
            "reading": readings(folder, episode),
            "lateness": recorder_lateness(folder, plan.windows, plan.window_s, say) if plan.windows else None,
        }
    result["targets"] = _targets(result)
    result |= {"definition": _DEFINITION, "machine": machine()}
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for line in _lines(result):
        say(line)
    return result


def _targets(result: dict[str, Any]) -> dict[str, bool | None]:
    """None: not measured, or not decided."""
    jpeg, h264 = result["reading"]["jpeg"], result["reading"]["h264"]
    return {
        f"recording under {MOST_CORE:g} of a core": (result["recorder_core"] or 1.0) < MOST_CORE,
        "recording adds nothing to the loop's lateness": (result["lateness"] or {}).get("adds_nothing"),
        f"reading at {LEAST_SPEED:g} times real time": jpeg["per_cpu_s"]["entries"] >= LEAST_SPEED,
        f"reading every JPEG to pixels at {LEAST_SPEED:g} times": jpeg["per_clock_s"]["pixels"] >= LEAST_SPEED,
        f"reading every H.264 frame to pixels at {LEAST_SPEED:g} times": h264["per_clock_s"]["pixels"] >= LEAST_SPEED,
        f"reading grows by less than {_MOST_GROWTH_MB:g} MB": jpeg["growth_mb"] < _MOST_GROWTH_MB,
    }


def _record(folder: Path, seconds: float) -> tuple[dict[str, Any], Path]:
    """Half the time cameras and ticks, then the same with observations; the recorder's share of a core in each."""
    run = folder / "recorded"
    run.mkdir()
    phases: dict[str, tuple[int, int, float]] = {}
    with recorded_line(run, write_station(run)) as line:
        line.feed(_SETTLE_S, questions=False)
        for name, questions in (("recorder_core", False), ("recorder_core_with_observations", True)):
            begun_ns, used_s = time.monotonic_ns(), cpu_s(line.pid)
            line.feed(seconds / 2, questions=questions)
            phases[name] = begun_ns, time.monotonic_ns(), cpu_s(line.pid) - used_s
        most_mb = peak_mb(line.pid)
        line.end()
        episode = line.episode
    found = info_of(episode)
    size_mb = sum(file.stat().st_size for file in episode.iterdir()) / 1e6
    kept = {"seconds": found.seconds, "messages": found.messages, "missing": found.missing, "size_mb": size_mb}
    return {**_shares(episode, phases), "recorder_peak_mb": most_mb, "episode": kept}, episode


def _shares(episode: Path, phases: dict[str, tuple[int, int, float]]) -> dict[str, Any]:
    """CPU for each second's worth of frames that are really in the bag: what was never recorded cost nothing."""
    reader = BagReader(episode)
    stamps = np.array([message.log_ns for message in reader.messages([camera_topic(role) for role in ROLES])])
    offset_ns = int(reader.notes["episode"]["ros_offset_ns"])
    shares: dict[str, Any] = {"kept_share": {}}
    for name, (begun_ns, ended_ns, used_s) in phases.items():
        frames = int(((stamps >= begun_ns + offset_ns) & (stamps < ended_ns + offset_ns)).sum())
        worth_s = frames / (len(ROLES) * CAMERA_HZ)
        shares[name] = round(used_s / worth_s, 4) if worth_s else None
        shares["kept_share"][name] = round(worth_s * 1e9 / (ended_ns - begun_ns), 3)
    return shares


def _lines(result: dict[str, Any]) -> list[str]:
    us, lateness = result["reporting_us"], result["lateness"]
    lines = [
        f"recorder: {result['recorder_core']} of a core; with 2.5 observations/s "
        f"{result['recorder_core_with_observations']}; frames kept {result['kept_share']}; "
        f"peak {result['recorder_peak_mb']:.0f} MB; "
        f"episode {result['episode']['size_mb']:.0f} MB, missing: {list(result['episode']['missing']) or 'nothing'}",
        f"loop's reports: {us['alone']:.1f} us a tick, {us['recorded']:.1f} with a recorder",
    ]
    lines += [
        f"reading {codec}: {found['per_cpu_s']} seconds of it per CPU second, {found['per_clock_s']} on the clock; "
        f"memory {found['grown_mb']} MB, {found['growth_mb']} more than a third of it takes"
        for codec, found in result["reading"].items()
    ]
    if lateness is not None:
        lines.append(
            f"loop beside the recorder: p99 {lateness['ours_ms']['p99']} ms, alone {lateness['bare_ms']['p99']} ms; "
            f"difference {lateness['lateness_extra_ms_p99']} (95 %: {lateness['lateness_extra_ms_p99_ci95']})"
        )
    words = {True: "met", False: "NOT MET", None: "not decided"}
    return [*lines, *(f"{words[met]}: {target}" for target, met in result["targets"].items())]
