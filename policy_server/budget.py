"""Which guidance branches run: those that the scales want, the observation allows and the budget holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from contract.types import Branch, GuidanceScales
from policy_server.guidance import wanted

DROP_ORDER: Final[tuple[Branch, ...]] = ("nolang", "noplan")
"""`nolang` is dropped first, because it alone costs a second forward of the video model; then `noplan`."""

Extras = tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class BranchCosts:
    """Times measured at warm-up."""

    first_ns: int = 0
    """Receipt to answer of the conditional branch alone, TR included."""
    after_reading_ns: int = 0
    """The part of `first_ns` after TR is known: near nothing for a head whose TR comes from its flow steps."""
    extra_ns: Mapping[Extras, int] = field(default_factory=dict)
    """What each set of further branches adds to that; nothing is known before warm-up."""

    def answer_ns(self) -> dict[str, int]:
        """Longest answer time by number of branches, keys of `ServerInfo.costs_ns`."""
        by_count: dict[str, int] = {"branches_1": self.first_ns}
        for extras, extra in self.extra_ns.items():
            key = f"branches_{1 + len(extras)}"
            by_count[key] = max(by_count.get(key, 0), self.first_ns + extra)
        return by_count


@dataclass(frozen=True, slots=True)
class Choice:
    """Branches beyond `full` that run, and those left out for want of time."""

    extras: Extras
    dropped: Extras


def choose(scales: GuidanceScales, allowed: Iterable[Branch], fits: Callable[[Extras], bool]) -> Choice:
    """Drops branches in `DROP_ORDER` until the rest fits; what the observation does not allow is not "dropped"."""
    permitted = set(allowed)
    extras = tuple(branch for branch in wanted(scales) if branch in permitted)
    dropped: Extras = ()
    for branch in DROP_ORDER:
        if not extras or fits(extras):
            break
        if branch in extras:
            extras = tuple(b for b in extras if b != branch)
            dropped = (*dropped, branch)
    return Choice(extras, dropped)
