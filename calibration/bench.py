"""`python -m calibration.bench`: every routine on the twin, against the twin's true values. Writes a JSON of errors.

Only this file and the tests read the truth.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro

from calibration import twin
from calibration.cell import Cell
from calibration.collect import collect
from calibration.eyes import Eye, bases, place
from calibration.intrinsics import Intrinsics, calibrate
from calibration.latency import arm_lag, camera_lag
from calibration.rigid import Matrix, difference, inverse, matrix
from calibration.views import View
from contract.errors import StackError
from contract.layout import ARMS
from contract.station import load_station

_RATE_HZ = 30.0
_ARM_DELAY_S, _CAMERA_DELAY_S = 0.035, 0.060


@dataclass(frozen=True)
class Arguments:
    """Calibrate the twin and compare with what is true there."""

    json: Path = Path("out/bench/calibration.json")
    """File for the figures."""
    views: int = 30
    """Of each camera by each arm."""
    parts: tuple[Literal["eyes", "latencies"], ...] = ("eyes", "latencies")
    """What is measured; figures of the other part stay as they are in the file."""
    seconds: float = 4.0
    """Of each motion that a latency is measured with."""


@dataclass
class _Result:
    figures: dict[str, Any] = field(default_factory=dict)
    """Name -> error, the worst so far."""

    def add(self, name: str, value: float) -> None:
        self.figures[name] = max(self.figures.get(name, 0.0), value)


def main() -> int:
    """Entry point."""
    arguments = tyro.cli(Arguments, prog="python -m calibration.bench")
    try:
        figures = bench(arguments, print)
    except StackError as error:
        print(f"calibration.bench: {error}", file=sys.stderr)
        return 1
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    before = json.loads(arguments.json.read_text(encoding="utf-8")) if arguments.json.is_file() else {}
    kept = before if len(arguments.parts) == 1 else {}
    figures = {**kept, **figures}
    arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=1))
    return 0


def bench(arguments: Arguments, say: Callable[[str], None]) -> dict[str, Any]:
    """The figures."""
    result, started_s = _Result(), time.monotonic()
    for name, part in (("eyes", _eyes), ("latencies", _latencies)):
        if name in arguments.parts:
            part(arguments, result, say)
    rounded = {name: round(value, 4) for name, value in result.figures.items()}
    wall_s = round(time.monotonic() - started_s, 1)
    return {**rounded, **_setting(arguments), "wall_s": wall_s, "simulated": True}


def _setting(arguments: Arguments) -> dict[str, Any]:
    eyes = {"views_per_camera_and_arm": arguments.views, "picture": list(twin.SIZE_PX)}
    latencies = {"injected_arm_ms": 1e3 * _ARM_DELAY_S, "injected_camera_ms": 1e3 * _CAMERA_DELAY_S}
    both: dict[str, dict[str, Any]] = {"eyes": eyes, "latencies": latencies}
    return {key: value for part in arguments.parts for key, value in both[part].items()}


def _eyes(arguments: Arguments, result: _Result, say: Callable[[str], None]) -> None:
    rig = twin.make_rig()
    cell = twin.make_cell(rig, load_station("twin"))
    found: dict[tuple[str, str], list[View]] = {}
    for arm in ARMS:
        for plan in (twin.wrist_plan(arm, arguments.views), twin.top_plan(arm, arguments.views)):
            rig.show(twin.board_place(plan.role, arm))
            found[plan.role, arm] = collect(cell, twin.BOARD, plan, say=say)
    truth = _truth(rig)
    rig.close()
    eyes: dict[tuple[str, str], Eye] = {}
    lens = {role: _lens([view for (r, _), views in found.items() if r == role for view in views]) for role, _ in found}
    for (role, side), views in found.items():
        mounting = "eye_to_hand" if role == "top" else "eye_in_hand"
        eyes[role, side] = place(twin.BOARD, lens[role].camera, views, mounting)  # type: ignore[arg-type]
        metres, radians = difference(truth[role, side], eyes[role, side].result.x)
        kind = "top" if role == "top" else "wrist"
        result.add(f"{kind}_mm", 1e3 * metres)
        result.add(f"{kind}_deg", float(np.degrees(radians)))
        result.add("intrinsics_rms_px", lens[role].rms_px)
        result.add("intrinsics_held_out_px", lens[role].held_out_px)
    metres, radians = difference(truth["bases", ""], bases(eyes["top", "left"], eyes["top", "right"]))
    result.add("base_mm", 1e3 * metres)
    result.add("base_deg", float(np.degrees(radians)))


def _lens(views: list[View]) -> Intrinsics:
    return calibrate(twin.BOARD, [view.sighting for view in views], *views[0].size)


def _truth(rig: Any) -> dict[tuple[str, str], Matrix]:
    def at(name: str) -> Matrix:
        body = rig.data.body(name)
        return matrix(body.xmat.reshape(3, 3), body.xpos)

    truth = {(f"{arm}_wrist", arm): inverse(at(f"{arm}_gripper")) @ at(f"{arm}_camera") for arm in ARMS}
    truth |= {("top", arm): inverse(at(f"{arm}_base")) @ at("top_camera") for arm in ARMS}
    return truth | {("bases", ""): inverse(at("left_base")) @ at("right_base")}


def _latencies(arguments: Arguments, result: _Result, say: Callable[[str], None]) -> None:
    """The arm's own lag is in both runs, so what is injected is what the second has more."""
    from robot_client.twin.timed import Delays

    delayed = Delays(command_ns=round(_ARM_DELAY_S * 1e9), camera_ns=round(_CAMERA_DELAY_S * 1e9))
    arm = {}
    for name, delays in (("none", Delays()), ("injected", delayed)):
        rig = twin.make_rig(delays)
        cell: Cell = twin.make_cell(rig, load_station("twin"), 200.0)
        rig.show("table")
        cell.go(twin.wrist_plan("left", 1).start)
        arm[name] = arm_lag(cell, "left", arguments.seconds)
        say(f"arm, delay {name}: {arm[name]}")
        if name == "injected":
            camera = camera_lag(cell, twin.BOARD, "left_wrist", "left", arguments.seconds)
            say(f"camera, delay {name}: {camera}")
            result.add("camera_latency_error_frames", abs(camera.seconds - _CAMERA_DELAY_S) * _RATE_HZ)
        rig.close()
    more_s = arm["injected"].seconds - arm["none"].seconds
    result.add("arm_latency_error_ms", 1e3 * abs(more_s - _ARM_DELAY_S))
    result.add("arm_own_lag_ms", 1e3 * arm["none"].seconds)


if __name__ == "__main__":
    sys.exit(main())
