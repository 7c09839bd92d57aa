"""Everything that is counted, as one JSON-ready value: results.json, from which the page is drawn."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from contract.errors import ConfigurationError
from training.analyse.arms import ablation
from training.analyse.entry import Entry, entry
from training.analyse.outcomes import Results, Tried, of_split
from training.analyse.phase_effect import CONTACT, PLANNING, Reading, mean_over, standardised_difference
from training.analyse.rank_correlation import LEAST_POINTS, spearman
from training.analyse.rates import SPLITS, compared, success
from training.analyse.resampling import Estimate
from training.data.shard import PHASES

GUIDANCE: Final = ("off", "constant", "adaptive", "inverted")
LEAST_SWEEP: Final = 9
_NO_PROBE: Final = "not noted (evaluate --probe)"


def findings(results: Results) -> dict[str, Any]:
    """The content of results.json."""
    kept = results.tried("headline", future="kept", guidance="off", rotation=0)
    gate = results.tried("gate", future="masked", guidance="off", rotation=0)
    return {
        "id_success": {**success(kept, "id"), "gate_future_masked": success(gate, "id")},
        "ood_success": {mode: _best_of(results, mode, "ood") for mode in GUIDANCE},
        "ablation": ablation(results),
        "tr_phase_effect": _phases(kept),
        "tr_ood_spearman": _sweep(results),
        "guidance": _guidance(results),
        "through_client": _client(results),
        "other_policies": _others(results),
        "rotations": {str(rotation): _rotation(results, rotation) for rotation in range(4)},
        "policy": _policy(results),
    }


def _family(results: Results) -> str:
    """The one that the headline is about. Raises `ConfigurationError` when it would be about two."""
    families = list(dict.fromkeys(cell.kin for cell, _ in results.where("headline")))
    if len(families) > 1:
        raise ConfigurationError(
            "headline of the results",
            expected="one policy with its sister seeds",
            got=", ".join(families),
            remedy='take "headline" out of `use` of the others, or give sister seeds one `family`',
        )
    return families[0] if families else ""


def _others(results: Results) -> dict[str, dict[str, dict[str, Entry]]]:
    """Policies that the headline is not about: success by future."""
    told: dict[str, dict[str, dict[str, Entry]]] = {}
    for cell, tried in results.cells:
        counts = {"gate", "ablation", "earlier", "rotation"} & set(cell.use) and "headline" not in cell.use
        if counts and cell.guidance == "off" and cell.variant == "main" and cell.through == "rows":
            named = told.setdefault(f"{cell.policy}, rotation {cell.rotation}", {})
            named[cell.future] = {split: success(tried, split) for split in SPLITS}
    return told


def _policy(results: Results) -> dict[str, Any]:
    cells = [cell for cell, _ in results.where("headline")]
    return {
        "name": _family(results),
        "training_seeds": sorted({cell.head_seed for cell in cells}),
    }


def _best_of(results: Results, mode: str, split: str) -> Entry:
    """Guidance of the bundle's own scale, else the strength with the most trials."""
    methods = _methods(results, mode)
    if not methods:
        return entry(None)
    name = max(methods, key=lambda method: (method == mode, len(of_split(methods[method], split))))
    return {**success(methods[name], split), "method": name}


def _methods(results: Results, mode: str) -> dict[str, list[Tried]]:
    by_method: dict[str, list[Tried]] = defaultdict(list)
    family = _family(results)
    use = "headline" if mode == "off" else "guidance"
    for cell, tried in results.where(use, future="kept", guidance=mode, rotation=0, variant="main"):
        if cell.kin == family:
            by_method[cell.method] += tried
    return by_method


def _phases(kept: Sequence[Tried]) -> dict[str, Any]:
    part = of_split(kept, "id")
    told: dict[str, Any] = entry(standardised_difference(part), "no replans in planning and contact phases")
    told["what"] = "Cohen's d of TR, approach and transport minus grasp and place"
    readings: dict[Reading, str] = {"ratios": "not run", "mask_effect": _NO_PROBE, "swap_effect": _NO_PROBE}
    for reading, reason in readings.items():
        told[reading] = {
            "planning": entry(mean_over(part, reading, PLANNING), reason),
            "contact": entry(mean_over(part, reading, CONTACT), reason),
            "d": entry(standardised_difference(part, reading), reason),
            "by_phase": {phase: entry(mean_over(part, reading, (phase,)), reason) for phase in PHASES},
        }
    return told


def _sweep(results: Results) -> dict[str, Any]:
    points = [_point(results, design) for design in _designs(results)]
    whole = [one for one in points if one["gap"] is not None and one["tr"] is not None]
    found = spearman([one["tr"] for one in whole], [one["gap"] for one in whole])
    told: dict[str, Any] = entry(found, f"{len(whole)} points of the sweep, at least {LEAST_POINTS} needed")
    return {**told, "wanted_points": LEAST_SWEEP, "points": points}


def _designs(results: Results) -> list[tuple[str, float | None, int | None]]:
    return sorted({cell.design for cell, _ in results.where("sweep", variant="main")}, key=repr)


def _point(results: Results, design: tuple[str, float | None, int | None]) -> dict[str, Any]:
    """TR over ID episodes and the gap ID - OOD of one design."""
    tried = [
        one
        for cell, part in results.where("sweep", variant="main", future="kept", guidance="off", rotation=0)
        if cell.design == design
        for one in part
    ]
    ratios = [ratio for one in of_split(tried, "id") for ratio in one.ratios]
    rates = {split: success(tried, split) for split in SPLITS}
    id_rate, ood_rate = (rates[split]["value"] for split in SPLITS)
    gap = None if id_rate is None or ood_rate is None else id_rate - ood_rate
    return {
        "adaptation": design[0], "sigma": design[1], "horizon": design[2], **rates,
        "tr": float(np.mean(ratios)) if ratios else None, "gap": gap, "gap_interval": _gap_interval(rates),
    }  # fmt: skip


def _gap_interval(rates: dict[str, Entry]) -> list[float] | None:
    """95 % interval of ID - OOD, two rates of different layouts: Newcombe (1998), method 10, from Wilson's limits."""
    if rates["id"]["value"] is None or rates["ood"]["value"] is None:
        return None
    (p, (p_low, p_high)), (q, (q_low, q_high)) = ((rates[s]["value"], rates[s]["interval"]) for s in SPLITS)
    below, above = math.hypot(p - p_low, q_high - q), math.hypot(p_high - p, q - q_low)
    return [round(p - q - below, 4), round(p - q + above, 4)]


def _guidance(results: Results) -> dict[str, Any]:
    reference = results.tried("headline", future="kept", guidance="off", rotation=0)
    told: dict[str, Any] = {}
    for mode in GUIDANCE:
        methods = _methods(results, mode) or {mode: []}
        for name, tried in sorted(methods.items()):
            told[name] = compared(tried, [] if mode == "off" else reference)
            told[name]["replan_ms"] = entry(_median_ms(tried))
    return told


def _median_ms(tried: Sequence[Tried]) -> Estimate | None:
    """Median time of a replan; the interval is from the 5th to the 95th percentile of replans, not of the median."""
    times = [value for one in tried for value in one.replan_ms]
    return Estimate(*(float(np.percentile(times, p)) for p in (50, 5, 95)), len(times)) if times else None


def _client(results: Results) -> dict[str, Entry]:
    """The served policy through the robot client's own loop and safety, and how far from the quick way that is."""
    tried = results.tried("headline", future="kept", guidance="off", rotation=0, through="client")
    return compared(tried, results.tried("headline", future="kept", guidance="off", rotation=0))


def _rotation(results: Results, rotation: int) -> dict[str, Any]:
    """Success with these pairs held out; other rotations than the headline's are of a policy of their own."""
    use = "headline" if rotation == 0 else "rotation"
    cells = results.where(use, future="kept", guidance="off", rotation=rotation, variant="main")
    told: dict[str, Any] = {split: success([one for _, part in cells for one in part], split) for split in SPLITS}
    return {**told, "policies": sorted({cell.policy for cell, _ in cells})}
