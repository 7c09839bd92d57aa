"""The arms of the ablation: futures shown to the headline's policy, and policies that lacked something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from contract.errors import ConfigurationError
from training.analyse.cell import Cell
from training.analyse.entry import Entry, entry, rate_of
from training.analyse.outcomes import Results, Tried, of_split
from training.analyse.paired import success_difference
from training.analyse.rates import SPLITS, compared, success

FUTURES: Final = ("kept", "masked", "swapped", "moved", "reworded")
VARIANTS: Final = ("head_without_future", "backbone_without_video_loss", "behaviour_cloning")


def ablation(results: Results) -> dict[str, Any]:
    """Success of each arm and its difference from what it is to be compared with."""
    served = {"variant": "main", "guidance": "off", "rotation": 0}
    reference = results.tried("headline", future="kept", **served)
    told: dict[str, Any] = {}
    for future in FUTURES:
        tried = results.tried("headline", future=future, **served)
        told[future] = compared(tried, reference if future != "kept" else [])
        if future == "reworded":
            told[future] |= {f"{split}_did_the_other_job": _obeyed(tried, split) for split in SPLITS}
    return {**told, **{variant: _variant(results, variant) for variant in VARIANTS}}


def _obeyed(tried: Sequence[Tried], split: str) -> Entry:
    """How often the arms did what was imagined instead of what was said."""
    return entry(rate_of([bool(one.obeyed) for one in of_split(tried, split) if one.obeyed is not None]))


def _variant(results: Results, variant: str) -> dict[str, Any]:
    """Policies that lacked something, each beside what its `reference` names, on the layouts that both tried."""
    cells = results.where("ablation", variant=variant, guidance="off", rotation=0)
    _check_one_future(variant, [cell for cell, _ in cells])
    tried, beside = [one for _, part in cells for one in part], _beside(results, [cell for cell, _ in cells])
    told: dict[str, Any] = {split: success(tried, split) for split in SPLITS}
    for split in SPLITS:
        found = success_difference(of_split(tried, split), of_split(beside, split))
        told[f"{split}_minus_reference"] = entry(found, "no trials of a reference on the same layouts")
    if tried:
        keys = {one.key for one in tried}
        same = [one for one in beside if one.key in keys]
        names = sorted({cell.reference for cell, _ in cells} - {""})
        told["reference"] = {"policy": ", ".join(names), **{split: success(same, split) for split in SPLITS}}
        told["what"] = "; ".join(sorted({cell.what for cell, _ in cells}))
    return told


def _check_one_future(variant: str, cells: Sequence[Cell]) -> None:
    """What lacks something is tried as it was trained; other futures of it would be counted as more of the same."""
    futures = sorted({cell.future for cell in cells})
    if len(futures) > 1:
        raise ConfigurationError(
            f"ablation {variant}",
            expected="one future",
            got=", ".join(futures),
            remedy="give the files of the others another `use` under [[files]] of their about.toml",
        )


def _beside(results: Results, cells: Sequence[Cell]) -> list[Tried]:
    """Trials of the references, under the training seed of the policy that each is compared with.

    Two policies trained apart share layouts and noise only, so a training seed here stands for the pair of them.
    """
    pairs = sorted({(cell.head_seed, cell.reference) for cell in cells if cell.reference})
    return [replace(one, head_seed=seed) for seed, name in pairs for one in _served(results, name)]


def _served(results: Results, name: str) -> list[Tried]:
    """Trials of a policy as served, but for those that settings were chosen with."""
    return [
        one
        for cell, part in results.cells
        if cell.policy == name and (cell.future, cell.guidance, cell.through) == ("kept", "off", "rows")
        if cell.rotation == 0 and "choice" not in cell.use
        for one in part
    ]
