"""What is to be tried of a policy: layouts, futures, guidance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from contract.errors import ConfigurationError
from contract.types import GUIDANCE_MODES, GuidanceMode
from training.evaluate.futures import FUTURES, Future
from training.evaluate.suite import Split, Trial, trials

Name = TypeVar("Name", bound=str)
_SPLITS: tuple[Split, ...] = ("id", "ood")


@dataclass(frozen=True, slots=True)
class Method:
    """One way of trying all layouts."""

    future: Future
    guidance: GuidanceMode = "off"
    w_max: float | None = None
    client: bool = False

    @property
    def name(self) -> str:
        """As in file names: kept, masked, kept-adaptive, kept-constant-0.1, kept-client."""
        parts = [self.future]
        if self.guidance != "off":
            parts += [self.guidance] if self.w_max is None else [self.guidance, f"{self.w_max:g}"]
        return "-".join([*parts, "client"] if self.client else parts)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The arguments of `yam-train evaluate`; names are checked when they are used."""

    rotation: int = 0
    per_pair: int = 10
    ood_per_pair: int | None = None
    """Of held-out pairs, if not as many."""
    first_seed: int = 0
    futures: tuple[str, ...] = ("kept", "masked", "swapped")
    splits: tuple[str, ...] = _SPLITS
    guidance: tuple[str, ...] = ("off",)
    w_max: tuple[float, ...] = ()
    probe: bool = False
    client: bool = False

    def methods(self) -> list[Method]:
        """All futures unguided, and each guidance with the future kept. Raises `ConfigurationError` for other names."""
        futures = [_known("future", name, FUTURES) for name in self.futures]
        modes = [_known("guidance", name, GUIDANCE_MODES) for name in self.guidance]
        plain = [Method(future, client=self.client) for future in futures] if "off" in modes else []
        strengths: Sequence[float | None] = self.w_max or (None,)
        return plain + [Method("kept", mode, w, self.client) for mode in modes if mode != "off" for w in strengths]

    def trials(self) -> list[Trial]:
        """The layouts of both splits. Raises `ConfigurationError` for other names, and when there would be none."""
        counts = {"id": self.per_pair, "ood": self.per_pair if self.ood_per_pair is None else self.ood_per_pair}
        chosen = [
            trial
            for split in self.known_splits()
            for trial in trials(self.rotation, counts[split], self.first_seed, (split,))
        ]
        if not chosen:
            raise ConfigurationError("layouts", expected="at least one", got=0, remedy="give --per-pair and --splits")
        return chosen

    def known_splits(self) -> tuple[Split, ...]:
        """Raises `ConfigurationError` for other names."""
        return tuple(_known("split", name, _SPLITS) for name in self.splits)


def _known(what: str, name: str, known: tuple[Name, ...]) -> Name:
    for one in known:
        if one == name:
            return one
    raise ConfigurationError(what, expected=", ".join(known), got=name, remedy="choose among those")
