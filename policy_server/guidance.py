"""TR-adaptive guidance: scales from the rank of TR, and the sum of velocities. Pure numpy; PAPER.md, our definition."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from numpy.typing import NDArray

from contract.errors import ConfigurationError
from contract.manifest import Guidance
from contract.types import Branch, GuidanceMode, GuidanceScales

ZERO: Final = GuidanceScales(0.0, 0.0)


def smoothstep(x: float) -> float:
    """0 below 0, 1 above 1, 3 x^2 - 2 x^3 between."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


def scales_of(mode: GuidanceMode, rank: float, settings: Guidance) -> GuidanceScales:
    """Scales for a replan whose TR has percentile `rank` (NaN = uncalibrated: no adaptive guidance).

    adaptive: w_max * smoothstep((rank - q_lo) / (q_hi - q_lo)); inverted: w_max minus that (the control experiment);
    constant: w_max; off: 0. Raises `ConfigurationError` for a scale whose null was not trained.
    """
    weight = _weight(mode, rank, settings)
    if weight == 0.0:
        return ZERO
    scales = GuidanceScales(settings.w_lang_max * weight, settings.w_plan_max * weight)
    require_trained(scales, settings)
    return scales


def require_trained(scales: GuidanceScales, settings: Guidance) -> None:
    """Raises `ConfigurationError` when a scale above zero needs a null that training never showed the policy."""
    for null, scale in (("language", scales.lang), ("future", scales.plan)):
        if scale > 0.0 and null not in settings.trained_nulls:
            raise ConfigurationError(
                f"guidance scale on {null}",
                expected=f"0, as the trained nulls are {list(settings.trained_nulls)}",
                got=scale,
                remedy="train with that condition dropped, or set its w_max to 0",
            )


def wanted(scales: GuidanceScales) -> tuple[Branch, ...]:
    """Extra branches with a scale above zero; a branch at zero does not run."""
    pairs: tuple[tuple[Branch, float], ...] = (("nolang", scales.lang), ("noplan", scales.plan))
    return tuple(branch for branch, scale in pairs if scale > 0.0)


def combine(velocities: Mapping[Branch, NDArray], scales: GuidanceScales) -> NDArray:
    """v_full + w_lang (v_full - v_nolang) + w_plan (v_full - v_noplan), over the branches that ran."""
    full = velocities["full"]
    total = full
    if "nolang" in velocities and scales.lang > 0.0:
        total = total + scales.lang * (full - velocities["nolang"])
    if "noplan" in velocities and scales.plan > 0.0:
        total = total + scales.plan * (full - velocities["noplan"])
    return total


def _weight(mode: GuidanceMode, rank: float, settings: Guidance) -> float:
    if mode == "off":
        return 0.0
    if mode == "constant":
        return 1.0
    if math.isnan(rank):
        return 0.0
    adaptive = smoothstep((rank - settings.q_lo) / (settings.q_hi - settings.q_lo))
    return adaptive if mode == "adaptive" else 1.0 - adaptive
