"""Time budgets given by a person, refused before any socket exists when they are no sensible time (case B01)."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Final

from contract.errors import ConfigurationError

MIN_MS: Final = 1.0
MAX_MS: Final = 600_000.0


def checked_budget_ms(name: str, value: object) -> float:
    """The budget [ms] as a float. Raises `ConfigurationError` for what is no number of 1 ms to 10 minutes.

    True is refused although Python takes it for 1, and so are 0 (an instant failure), -1 (which some libraries read as
    "for ever") and NaN.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not MIN_MS <= value <= MAX_MS:  # type: ignore[arg-type, operator]
        raise ConfigurationError(
            name,
            expected=f"a number of milliseconds from {MIN_MS:g} to {MAX_MS:g}",
            got=repr(value)[:60],
            remedy="for example 500.0",
        )
    return float(value)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Budgets:
    """All times of a link [ms]. Refused at construction when one is out of range."""

    connect_ms: float = 3000.0
    """From `connect` until the server has accepted the session."""
    reply_ms: float = 2000.0
    """From `submit` until the answer is there; afterwards the request is given up and a late answer thrown away."""
    imagine_ms: float = 60_000.0
    """The same for imagined frames."""
    silent_ms: float = 1000.0
    """Without a word from the server for this long the link is SILENT; after three times that it connects anew."""
    heartbeat_ms: float = 200.0
    """Between two pings."""

    def __post_init__(self) -> None:
        for field in fields(self):
            checked_budget_ms(field.name, getattr(self, field.name))
