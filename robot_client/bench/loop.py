"""`yam-robot bench loop`: the control loop's lateness and a bare sleep loop's, alternately, beside one busy server."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from contract.errors import ConfigurationError
from robot_client.bench.busy_server import BusyServer
from robot_client.bench.late_ticks import blame
from robot_client.bench.lateness import compare
from robot_client.bench.loop_window import LoopWindow, loop_window
from robot_client.bench.stand import LOOP_HZ, BenchRig, Stand
from robot_client.clock import NS_PER_S

ENOUGH_TICKS = 20_000
_QUICK = (2, 3.0)
_MOST_RATIO, _MOST_EXTRA_MS = 1.5, 0.3


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    windows: int = 10
    """Windows of each kind; they alternate, and the kind that goes first does too."""
    seconds: float = 20.0
    threads: int = 2
    """Engine threads of the server that is the load."""
    rig: BenchRig = "ideal"
    """ "yam": two holders on emulated motors, which run beside the bare loop too."""
    loop_hz: float = LOOP_HZ

    @property
    def ticks(self) -> int:
        """Of one window."""
        return int(self.seconds * self.loop_hz)

    def check(self) -> None:
        """Raises `ConfigurationError` for what cannot be measured."""
        if self.windows < 1 or not 1.0 <= self.seconds <= 3600.0 or self.threads < 0:
            raise ConfigurationError("bench loop", expected="windows >= 1, seconds 1..3600, threads >= 0", got=self)


def bench_loop(
    path: Path, plan: Plan, bundle: Path, quick: bool, say: Callable[[str], None] = print
) -> dict[str, object]:
    """Measure, write `path`, and return what was written."""
    plan = replace(plan, windows=_QUICK[0], seconds=_QUICK[1]) if quick else plan
    plan.check()
    ours: list[LoopWindow] = []
    bare: list[dict[str, list[int]]] = []
    replans: dict[str, list[float]] = {"ours": [], "bare": []}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stand = stack.enter_context(Stand(folder, plan.rig, plan.loop_hz))
        server = stack.enter_context(BusyServer(bundle, plan.threads, folder))
        for window in range(plan.windows):
            for kind in ("ours", "bare") if window % 2 == 0 else ("bare", "ours"):
                before, started_s = server.answers(), time.monotonic()
                if kind == "ours":
                    ours.append(loop_window(folder, plan.ticks, stand))
                else:
                    bare.append(_bare_window(plan))
                elapsed_s = time.monotonic() - started_s
                replans[kind].append(round((server.answers() - before) / elapsed_s, 2))
                say(f"window {window + 1}/{plan.windows} {kind}: server answered {replans[kind][-1]:.1f} replans/s")
    result = _result(plan, ours, bare, {**server.described, "replans_per_s": replans})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    say(_line(result))
    return result


def _bare_window(plan: Plan) -> dict[str, list[int]]:
    command = [sys.executable, "-m", "robot_client.bench.bare", "--hz", str(plan.loop_hz), "--ticks", str(plan.ticks)]
    out = subprocess.run(command, capture_output=True, check=True, timeout=60 + 3 * plan.seconds)
    return json.loads(out.stdout)


def _result(
    plan: Plan, ours: list[LoopWindow], bare: list[dict[str, list[int]]], load: dict[str, object]
) -> dict[str, object]:
    compared = compare(
        [np.concatenate(window.lateness_ns) for window in ours],
        [np.array(window["lateness_ns"], np.int64) for window in bare],
    )
    rights = {"ours": ours[-1].rights, "bare": bare[-1]["rights"]}
    enough = plan.windows * plan.ticks >= ENOUGH_TICKS
    within = compared["lateness_over_bare_p999"] <= _MOST_RATIO or compared["lateness_extra_ms_p999"] <= _MOST_EXTRA_MS  # type: ignore[operator]
    return {
        **compared,
        "target": f"p99.9 at most {_MOST_RATIO} times the bare loop's, or {_MOST_EXTRA_MS} ms more",
        "target_met": within if enough else None,
        "enough_ticks": enough,
        "loop_hz": plan.loop_hz,
        "rig": plan.rig,
        "windows_of_each": plan.windows,
        "seconds_a_window": plan.seconds,
        "rights": rights,
        "same_rights": rights["ours"] == rights["bare"],
        "load": load,
        "travel_rad": [round(window.travel_rad, 3) for window in ours],
        "reports_dropped": sum(window.counters.get("reports_dropped", 0) for window in ours),
        "late": blame(
            [window.late for window in ours],
            [np.array(window["lateness_ns"], np.int64) for window in bare],
            int(NS_PER_S / plan.loop_hz),
        ),
        "periods_skipped": sum(window.counters.get("periods_skipped", 0) for window in ours),
    }


def _line(result: dict[str, object]) -> str:
    return (
        f"lateness p99.9: ours {result['ours_ms']['p999']} ms, bare {result['bare_ms']['p999']} ms; "  # type: ignore[index]
        f"{result['lateness_over_bare_p999']} times, {result['lateness_extra_ms_p999']} ms more "
        f"(95 %: {result['lateness_extra_ms_p999_ci95']}); target met: {result['target_met']}"
    )
