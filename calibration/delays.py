"""All delays of a station, one after the other: measured, said, drawn, and as the station's section has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from calibration import plots
from calibration.cell import Cell
from calibration.date import today
from calibration.lag import Lag
from calibration.latency import arm_lag, camera_lag, gripper_lag, joints_lag
from calibration.session import Session
from contract.calibration import Latencies
from contract.errors import ConfigurationError
from contract.layout import ARMS, Arm, index

LOOP_HZ: Final = 200.0
"""On the twin, so that told and measured are as fine as on real arms."""
LEAST_S: Final = 1.5
UNCERTAIN_MS: Final = 10.0
"""Wider intervals come from motion that stuck or a computer that stalled."""
MOVED_MS: Final[Mapping[str, float]] = {"arms": 5.0, "grippers": 10.0, "joints": 5.0, "cameras": 11.0}
"""What makes a difference: a camera's is a third of a frame at 30 Hz, which a short measurement can tell."""

Lags = dict[str, dict[str, Lag]]
"""Kind (arms, grippers, joints, cameras) -> arm or role -> its delay."""


def measured(session: Session, roles: Sequence[str], seconds: float) -> Lags:
    """Arms, grippers and cameras, each while one channel moves to and fro for `seconds`.

    Raises `ConfigurationError` for a motion too short to tell, and as calibration/latency.py does.
    """
    if not LEAST_S <= seconds <= 60.0:
        raise ConfigurationError("--seconds", expected=f"{LEAST_S:g} to 60", got=seconds, remedy="leave it out")
    found: Lags = {"arms": {}, "grippers": {}, "joints": {}, "cameras": {}}
    cell = session.cell
    cell.go(session.station.poses.home.vector())  # arms that lie at rest are kept from moving by the table
    for arm in ARMS:
        for role in [role for role in roles if role == f"{arm}_wrist" or (role == "top" and arm == "left")]:
            plan = session.prepare(session.plan(role, arm, 1))
            cell.go(plan.start)
            found["cameras"][role] = camera_lag(cell, session.board, role, arm, seconds)
        found["arms"][arm] = arm_lag(cell, arm, seconds)
        found["joints"][arm] = joints_lag(cell, arm)
        _half_open(cell, arm)
        found["grippers"][arm] = gripper_lag(cell, arm, seconds)
    return found


def said(found: Lags) -> list[str]:
    """A line for each."""
    return [
        f"{name}: {ms:.1f} ms +- {wide:.1f}{'  WARNING: not certain, measure again' if wide > UNCERTAIN_MS else ''}"
        for name, (ms, wide) in _shown(found).items()
    ]


def drawn(found: Lags, pictures: Path) -> None:
    """A picture of them."""
    plots.plot_latencies(pictures / "latencies.png", _shown(found))


def entries(found: Lags) -> dict[str, Any]:
    """The `latencies` of the station's section."""
    return {kind: {name: _entry(lag, kind) for name, lag in lags.items()} for kind, lags in found.items()}


def drifted(stored: Latencies, found: Lags) -> list[str]:
    """What is no longer as it was measured, beyond what both measurements leave open."""
    faults = []
    for kind, lags in found.items():
        before = getattr(stored, kind)
        for name, lag in lags.items():
            if name not in before:
                continue
            old, now_ms = before[name], max(1e3 * lag.seconds, 0.0)
            open_ms = MOVED_MS[kind] + old.uncertainty_ms + 1e3 * lag.uncertainty_s
            if abs(now_ms - old.latency_ms) > open_ms:
                faults.append(
                    f"latency of {kind} {name}: {now_ms:.1f} ms, stored {old.latency_ms:.1f} ms: run "
                    "yam-calibrate latency"
                )
    return faults


def _shown(found: Lags) -> dict[str, tuple[float, float]]:
    return {
        f"{kind} {name}": (1e3 * lag.seconds, 1e3 * lag.uncertainty_s)
        for kind, lags in found.items() for name, lag in lags.items()
    }  # fmt: skip


def _half_open(cell: Cell, arm: Arm) -> None:
    pose = cell.stands()
    pose[index(f"{arm}_gripper")] = 0.5
    cell.go(pose)


def _entry(lag: Lag, kind: str) -> dict[str, Any]:
    method = "age of new readings" if kind == "joints" else "correlation of one channel's motion"
    return {
        "latency_ms": max(1e3 * lag.seconds, 0.0), "uncertainty_ms": 1e3 * lag.uncertainty_s,
        "correlation": lag.correlation, "method": method, "date": today(),
    }  # fmt: skip
