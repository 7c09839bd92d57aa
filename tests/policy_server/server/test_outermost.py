"""The one frame that catches what nobody planned."""

from __future__ import annotations

import logging

import pytest

from contract.errors import BusyError, EngineError
from policy_server.server.outermost import Outermost


def test_an_unplanned_exception_is_a_typed_error_that_keeps_its_cause() -> None:
    with pytest.raises(EngineError, match="ZeroDivisionError: by zero") as caught, Outermost().frame("engine"):
        raise ZeroDivisionError("by zero")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_planned_error_passes_as_it_is() -> None:
    planned = BusyError("server", expected="READY", got="LOADING")
    with pytest.raises(BusyError) as caught, Outermost().frame("engine"):
        raise planned
    assert caught.value is planned


def test_a_stop_by_a_person_is_not_caught() -> None:
    with pytest.raises(KeyboardInterrupt), Outermost().frame("engine"):
        raise KeyboardInterrupt


def test_an_engine_that_fails_a_thousand_times_writes_ten_tracebacks(caplog: pytest.LogCaptureFixture) -> None:
    outermost = Outermost()
    with caplog.at_level(logging.ERROR, "policy_server.server"):
        for _ in range(1000):
            with pytest.raises(EngineError), outermost.frame("engine"):
                raise RuntimeError("the device is lost")
    assert len(caplog.records) == 10 and all(record.exc_info for record in caplog.records)
