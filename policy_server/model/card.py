"""What a checkpoint says of itself beside its sizes, in the parts of the bundle's manifest: statistics, provenance."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contract.manifest import Action, Guidance, Provenance, Statistics, TrCalibration
from contract.server_info import Strict


class PolicyCard(Strict):
    """`card.json` of a checkpoint folder."""

    model_id: Annotated[str, Field(min_length=1, max_length=64)]
    trained: bool
    feature_source: Literal["generated", "noised_true", "untrained"]
    imagine_passes: Annotated[int, Field(ge=1, le=200)]
    state: Statistics
    action: Action
    guidance: Guidance
    provenance: Provenance
    tr_calibration: TrCalibration | None = None
