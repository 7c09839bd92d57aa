"""The Temporal Ratio of unguided replans of recorded episodes: collected, and shown to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import ConfigurationError, EpisodeError
from robot_client.episodes.formats.choose import episodes_at
from robot_client.episodes.reader import BagReader
from robot_client.episodes.replans import ReplanReader

_BINS: Final = 24
_BAR: Final = 40
SHOWN: Final = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(slots=True)
class Collected:
    """TR of unguided replans, by phase; "" where no phase was labelled."""

    by_phase: dict[str, list[float]] = field(default_factory=dict)
    engine_id: str = ""
    horizon: int = 0
    """Of the policy that answered; 0 = the episodes do not say."""
    guided: int = 0
    """Replans left out because guidance moved the arms away from where the policy alone would have."""
    instructions: dict[str, int] = field(default_factory=dict)
    """What the policy was told -> unguided replans."""

    @property
    def values(self) -> NDArray[np.float64]:
        """(n,) of all phases."""
        return np.array([value for values in self.by_phase.values() for value in values])


def phases_of(pairs: Sequence[str]) -> dict[str, str]:
    """Instruction -> phase, of PHASE=INSTRUCTION. Raises `ConfigurationError` for what is not so."""
    named = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (name.strip() and equals and text.strip()):
            raise ConfigurationError("--phases", expected="PHASE=INSTRUCTION", got=pair, remedy='reach="pick up ..."')
        named[text.strip()] = name.strip()
    return named


def collected(folders: Sequence[Path], phases: dict[str, str] | None = None) -> Collected:
    """From episodes at `folders`. `phases`: instruction of a sub-task -> name of its phase.

    Raises `EpisodeError` for what cannot be read, and when the episodes are of several engines or policies.
    """
    result = Collected()
    for folder in folders:
        for source in episodes_at(folder):
            _add(result, source.path, phases or {})
    if not len(result.values):
        raise EpisodeError("episodes", expected="unguided replans", got="none", remedy="record with --guidance off")
    return result


def _add(result: Collected, path: Path, phases: dict[str, str]) -> None:
    reader = ReplanReader(BagReader(path))
    for replan in reader.replans():
        if replan.answered is None:
            continue
        # Not by the scales: adaptive guidance is off while TR is low, and those replans alone would be a wrong sample.
        if replan.observation.guidance != "off":
            result.guided += 1
            continue
        told = replan.observation.instruction
        result.instructions[told] = result.instructions.get(told, 0) + 1
        phase = phases.get(told, "")
        result.by_phase.setdefault(phase, []).append(replan.answered.tr_value)
    info = reader.server_info
    engine = "" if info is None else info.engine_id
    if result.engine_id and engine != result.engine_id:
        raise EpisodeError(
            f"{path}: engine", expected=result.engine_id, got=engine, remedy="calibrate each engine by itself"
        )
    result.engine_id = engine
    result.horizon = 0 if info is None else info.horizon


def shown(found: Collected) -> list[str]:
    """Quantiles per phase and a histogram, for the terminal."""
    lines = []
    for phase, values in sorted(found.by_phase.items()):
        at = ", ".join(f"{q:.0%} {np.quantile(values, q):.4g}" for q in SHOWN)
        lines.append(f"{phase or 'all':<12} {len(values):>6} replans: {at}")
    counts, edges = np.histogram(found.values, _BINS)
    for count, edge in zip(counts, edges[:-1], strict=True):
        lines.append(f"{edge:10.4g} {'#' * round(_BAR * count / counts.max())} {count}")
    return lines


def unmatched(found: Collected, phases: Mapping[str, str]) -> list[str]:
    """Phases whose instruction nobody gave, with those that were given."""
    told = ", ".join(repr(text) for text in sorted(found.instructions))
    return [
        f"WARNING: phase {name}: no replan was told {text!r}; told were {told}"
        for text, name in phases.items() if text not in found.instructions
    ]  # fmt: skip
