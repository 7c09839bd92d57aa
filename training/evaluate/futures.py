"""What the head is shown of the imagined future: kept as it is, masked, or a wrong one.

swapped: that of another instruction. moved: that of another layout and moment under the same instruction. reworded: one
imagined in this very scene under another instruction (training.evaluate.rewording).

An engine around the real one changes what the graph `context` is fed; the rest of the served policy is untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contract.errors import EngineError
from policy_server.engines.base import Engine

Future = Literal["kept", "masked", "swapped", "moved", "reworded"]
FUTURES: tuple[Future, ...] = ("kept", "masked", "swapped", "moved", "reworded")
Feeds = Mapping[str, NDArray]


class AlteredEngine:
    """`Engine`: the inner one, with the feeds of `context` passed through `alter` first."""

    def __init__(self, inner: Engine, alter: Callable[[Feeds], Feeds]) -> None:
        self._inner, self._alter = inner, alter
        self.id, self.runs_on, self.graphs = inner.id, inner.runs_on, inner.graphs

    def inputs(self, graph: str) -> tuple[str, ...]:
        """Of the inner engine."""
        return self._inner.inputs(graph)

    def outputs(self, graph: str) -> tuple[str, ...]:
        """Of the inner engine."""
        return self._inner.outputs(graph)

    def run(self, graph: str, feeds: Feeds) -> dict[str, NDArray]:
        """The inner engine's answer to the altered feeds."""
        return self._inner.run(graph, self._alter(feeds) if graph == "context" else feeds)

    def close(self) -> None:
        """Close the inner engine."""
        self._inner.close()


def masked(feeds: Feeds) -> Feeds:
    """The head sees no key of any later frame."""
    return {**feeds, "future_keep": np.zeros_like(feeds["future_keep"])}


class FutureBank:
    """Features of later frames, by instruction, collected while a policy runs and then shown at the wrong time."""

    def __init__(self, current_tokens: int) -> None:
        self._current = current_tokens
        self._stored: list[tuple[str, NDArray[np.float16]]] = []
        self._rng = np.random.default_rng(0)
        self.instruction = ""

    def collect(self, feeds: Feeds) -> Feeds:
        """Remember the later frames' features of this replan; nothing is changed."""
        self._stored.append((self.instruction, feeds["features"][0, self._current :].astype(np.float16)))
        return feeds

    def swap(self, feeds: Feeds) -> Feeds:
        """Replace the later frames' features by those of some moment under another instruction."""
        return self._replaced(feeds, [future for said, future in self._stored if said != self.instruction])

    def move(self, feeds: Feeds) -> Feeds:
        """Replace the later frames' features by those of another moment under the same instruction."""
        return self._replaced(feeds, [future for said, future in self._stored if said == self.instruction])

    def start(self, instruction: str, seed: int) -> None:
        """An episode begins; the same seed swaps in the same futures."""
        self.instruction = instruction
        self._rng = np.random.default_rng([seed, 5])

    def _replaced(self, feeds: Feeds, choices: list[NDArray[np.float16]]) -> Feeds:
        if not choices:
            raise EngineError(
                "future to show instead", expected="a collected one", got=f"none for {self.instruction!r}"
            )
        features = feeds["features"].copy()
        features[:, self._current :] = choices[int(self._rng.integers(len(choices)))]
        return {**feeds, "features": features}
