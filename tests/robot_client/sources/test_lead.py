"""Calibrated latency of the arms in the timing of chunks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contract.calibration import Calibration
from contract.station import Station
from robot_client.chunk_buffer import ChunkBuffer
from robot_client.sources.replanner import PlanSettings, Replanner
from tests.robot_client.stage import HOME, STATION, Stage, line, station, steady

LATENCY = {"uncertainty_ms": 1.0, "correlation": 0.99, "method": "correlation", "date": "2026-01-31"}
SECTION = {
    "format": 1,
    "latencies": {"arms": {"left": {"latency_ms": 60.0, **LATENCY}, "right": {"latency_ms": 50.0, **LATENCY}}},
}


def _progress(at: Station) -> NDArray[np.float64]:
    """Row and fraction that every tick is told."""
    stage = Stage(steady(lambda o: line(HOME, 0.0, o.first_row, 16 - len(o.prefix))), at=at)
    return np.array([tick.row + tick.fraction for tick in stage.run(1.5)][-30:])


def test_rows_are_told_earlier_by_the_arms_latency_only_where_the_station_asks_for_it() -> None:
    calibrated = STATION.model_copy(update={"calibration": Calibration.model_validate(SECTION)})
    leading = calibrated.model_copy(update={"timing": station(lead_by_latency=True).timing})
    plain = _progress(STATION)
    np.testing.assert_array_equal(_progress(calibrated), plain)
    # A row lasts 100 ms: half a row for the faster arm's 50 ms.
    np.testing.assert_allclose(_progress(leading) - plain, 0.5, atol=1e-6)


def test_rows_that_are_told_early_are_committed_early() -> None:
    """An answer in time replaced rows that the arms had been told already, by as much as they lead."""
    step_ns, answer_ns, lead_ns = 100_000_000, 150_000_000, 120_000_000
    settings = PlanSettings(replan_rows=5, budget_ns=10**9, grace_ns=10**9, patience_ns=10**9)
    buffer = ChunkBuffer(step_ns, 16, 8)
    plain, leading = (
        Replanner(replace(settings, lead_ns=lead), step_ns, answer_ns).rows_ahead(buffer, 0) for lead in (0, lead_ns)
    )
    assert (plain, leading) == (2, 3)
