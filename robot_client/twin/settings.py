"""Settings of a twin process, checked before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from contract.errors import ConfigurationError
from robot_client.twin.layouts import Layout, make_layout
from robot_client.twin.tasks import parse

POLICY_HZ: Final = 15.0
OVERVIEW_HZ: Final = 10.0
_MOST_HZ: Final = 60.0


@dataclass(frozen=True, slots=True)
class TwinSettings:
    """What a twin process is started with. Rates in frames a second; 0 turns a camera group off."""

    run_dir: Path
    seed: int = 0
    instruction: str = ""
    policy_hz: float = POLICY_HZ
    overview_hz: float = OVERVIEW_HZ
    shadows: bool = False
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    lifeline_fd: int | None = None
    """A descriptor that ends (EOF) when the parent dies; without one, Ctrl-C ends the twin."""

    def layout(self) -> Layout:
        """The first layout."""
        return layout_of(self.seed, self.instruction)

    def check(self) -> None:
        """Raise `ConfigurationError` or `VocabularyError` naming the setting that is out of range."""
        if not self.run_dir.is_dir():
            raise ConfigurationError("run directory", expected="an existing folder", got=self.run_dir)
        for name, rate in (("policy_hz", self.policy_hz), ("overview_hz", self.overview_hz)):
            if not 0 <= rate <= _MOST_HZ:
                raise ConfigurationError(name, expected=f"0..{_MOST_HZ:g} frames a second", got=rate)
        self.layout()


def layout_of(seed: int, instruction: str) -> Layout:
    """The layout of a seed and, unless it is empty, an instruction."""
    return make_layout(seed, parse(instruction) if instruction else None)
