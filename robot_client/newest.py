"""Which of the values that came count at a moment: of every stream the newest that is not after it.

The planner asks this of the cameras while the arms move, the sampler of recorded entries when a dataset is written.
Both use this file, so a policy is trained on what it will be shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Stamped(Generic[Value]):
    """A value and when it was true."""

    stamp_ns: int
    value: Value


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why a stream has nothing for a moment: its newest value is `age_ns` old, or there is none (`age_ns` None)."""

    name: str
    age_ns: int | None

    def __str__(self) -> str:
        return f"{self.name}: nothing yet" if self.age_ns is None else f"{self.name}: {self.age_ns / 1e6:.0f} ms old"


class Newest(Generic[Value]):
    """Keeps one value per stream. What arrives late but was true earlier than what is kept changes nothing."""

    def __init__(self) -> None:
        self._kept: dict[str, Stamped[Value]] = {}

    def take(self, name: str, stamp_ns: int, value: Value) -> None:
        """A value of stream `name`."""
        kept = self._kept.get(name)
        if kept is None or stamp_ns >= kept.stamp_ns:
            self._kept[name] = Stamped(stamp_ns, value)

    def at(self, names: Collection[str], now_ns: int, max_age_ns: int) -> dict[str, Stamped[Value]] | Unfit:
        """The kept value of every name; or the first name that has none that fits `now_ns`."""
        return pick(self._kept, names, now_ns, max_age_ns)


def pick(
    kept: Mapping[str, Stamped[Value]], names: Collection[str], now_ns: int, max_age_ns: int
) -> dict[str, Stamped[Value]] | Unfit:
    """What is kept of each of `names`, in order; `Unfit` for the first that is missing or older than `max_age_ns`."""
    for name in names:
        if name not in kept:
            return Unfit(name, None)
        age_ns = now_ns - kept[name].stamp_ns
        if age_ns > max_age_ns:
            return Unfit(name, age_ns)
    return {name: kept[name] for name in names}
