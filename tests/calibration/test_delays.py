"""All delays of a station, and what of them has drifted."""

from __future__ import annotations

import pytest

from calibration import delays, twin
from calibration.cell import Cell
from calibration.lag import Lag
from calibration.session import Session
from contract.calibration import Latencies
from contract.errors import ConfigurationError
from contract.station import load_station
from robot_client.clock import NS_PER_MS, NS_PER_S, FakeClock
from robot_client.rigs.ideal import IdealRig

STATION = load_station("twin")


def session(delay_ms: int) -> Session:
    """Arms without cameras, and without anything near them."""
    clock = FakeClock(NS_PER_S)
    rig = IdealRig(clock, STATION.poses.home.vector(), delay_ns=delay_ms * NS_PER_MS)
    free = STATION.model_copy(update={"safety": STATION.safety.model_copy(update={"space": None})})
    return Session(free, Cell(rig, clock, free, 200.0), twin.BOARD, lambda plan: plan, lambda *_: None)  # type: ignore


def test_a_short_look_again_says_which_arms_delay_has_drifted() -> None:
    stored = Latencies.model_validate(delays.entries(delays.measured(session(20), (), 2.0)))
    assert set(stored.arms) == {"left", "right"} == set(stored.grippers)
    assert delays.drifted(stored, delays.measured(session(22), (), 1.5)) == []
    faults = delays.drifted(stored, delays.measured(session(45), (), 1.5))
    assert any(line.startswith("latency of arms left: 45") and "stored 20" in line for line in faults)
    assert any("grippers right" in line for line in faults)


def test_what_was_never_stored_has_not_drifted() -> None:
    assert delays.drifted(Latencies(), {"cameras": {"top": Lag(0.1, 0.001, 1.0)}}) == []


def test_an_uncertain_look_again_is_no_drift() -> None:
    entry = delays.entries({"cameras": {"top": Lag(0.05, 0.001, 1.0)}})
    stored = Latencies.model_validate(entry)
    assert delays.drifted(stored, {"cameras": {"top": Lag(0.08, 0.001, 1.0)}})
    assert delays.drifted(stored, {"cameras": {"top": Lag(0.08, 0.03, 1.0)}}) == []


@pytest.mark.parametrize("seconds", [0.2, 100.0])
def test_a_motion_too_short_or_too_long_is_refused_before_anything_moves(seconds: float) -> None:
    with pytest.raises(ConfigurationError, match="--seconds"):
        delays.measured(session(20), (), seconds)
