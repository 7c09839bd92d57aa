"""The interface of a recorded episode."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from robot_client.episodes.formats.entries import Entry


class EpisodeSource(Protocol):
    """One episode. `entries` may be called again; `missing` belongs to the newest whole pass.

    Nothing is held in memory but what waits to be sorted. Raises `EpisodeError` for what cannot be read, in one line;
    a `tolerant` source goes on where it can and says in `missing` what it left out.
    """

    path: Path
    layout: str
    """Name of the layout, for people."""

    def entries(self, roles: Collection[str] | None = None) -> Iterator[Entry]:
        """Everything in the order of its stamps; pictures of `roles` only (None: all cameras)."""

    def cameras(self) -> Mapping[str, float]:
        """Camera role -> rate [Hz]."""

    @property
    def facts(self) -> Mapping[str, str]:
        """Name and value of what the episode was; has `instruction` after a pass."""

    @property
    def missing(self) -> tuple[str, ...]:
        """One line for everything known not to be there; empty when the episode is complete."""
