"""Stands still: brakes and keeps the frozen target."""

from __future__ import annotations

from robot_client.sources.base import Asked, Moment


class HoldSource:
    """Asks for nothing, which the loop answers by braking; a target at rest never moves again, whatever is measured."""

    name = "hold"

    def begin(self, moment: Moment) -> None:
        """Nothing to get ready."""

    def ask(self, moment: Moment) -> Asked:
        return Asked(None)
