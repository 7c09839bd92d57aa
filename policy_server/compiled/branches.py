"""Branches: how many guidance branches one run of a graph may hold, the free first axis of most graphs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from contract.server_info import Strict

Count = Annotated[int, Field(ge=1, le=64)]


class Branches(Strict):
    """The shape profile of an engine. Three branches are all there are: full, nolang, noplan."""

    least: Count = 1
    usual: Count = 3
    most: Count = 3

    @model_validator(mode="after")
    def _rising(self) -> Branches:
        if not self.least <= self.usual <= self.most:
            raise ValueError(f"{self.least}, {self.usual}, {self.most} do not rise")
        return self

    def shapes(self, shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """Least, usual and most of a shape whose free axes are -1."""
        counts = (self.least, self.usual, self.most)
        return tuple(tuple(count if size < 0 else size for size in shape) for count in counts)
