"""The `[watchdogs]` section of a station file. Every limit is positive and finite: one that never barks is refused."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from contract.server_info import Strict

SAG_RAD: Final = 0.032
"""By which YAM motors stay behind under gravity at rest."""


class Watchdogs(Strict):
    """Each has a clock of its own in the loop. Joint age and the end of a plan are in `[timing]`."""

    chunk_ms: Annotated[float, Field(gt=0.0, le=60000.0, allow_inf_nan=False)] = 5000.0
    """Age of the observation that the running rows answer."""
    camera_ms: Annotated[float, Field(gt=0.0, le=10000.0, allow_inf_nan=False)] = 1500.0
    """Age of the newest image of a camera the policy looks at. Nothing is planned on images older than
    timing.camera_max_age_ms; the valid rows still run, and this ends them."""
    cameras_ms: dict[str, Annotated[float, Field(gt=0.0, le=10000.0, allow_inf_nan=False)]] = Field(
        default_factory=dict
    )
    """The same for one camera role."""
    driver_ms: Annotated[float, Field(gt=0.0, le=2000.0, allow_inf_nan=False)] = 250.0
    """Time without new feedback of the driver, counted by the loop, whatever stamps say."""
    blocked_ms: Annotated[float, Field(gt=0.0, le=60000.0, allow_inf_nan=False)] = 5000.0
    """How long an arm may stand because safety does not let it go where a source asks: box, table or a distance. A
    person's hand on a leader has all the time it wants."""
    tracking_rad: Annotated[float, Field(ge=0.05, le=1.0, allow_inf_nan=False)] = 0.3
    """Measured behind told. Above the sag, and below the lead, which told never exceeds."""
    tracking_ms: Annotated[float, Field(gt=0.0, le=10000.0, allow_inf_nan=False)] = 500.0
    """How long it may be behind."""
    operator_ms: Annotated[float, Field(gt=0.0, le=10000.0, allow_inf_nan=False)] | None = None
    """The operator's terminal must be heard of this often while arms move; absent = not asked for."""
