"""A future imagined in the very scene, but under another instruction: the sharpest test of whether it is followed.

The head, and where it hears at all the current frame, keep the instruction that was given; the video model's later
frames are made under another one. A policy that does what it imagines then does the other job.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from contract.manifest import BundleManifest
from policy_server.engines.base import Engine
from policy_server.words import Words
from robot_client.twin.tasks import Task, seen
from training.evaluate.futures import Feeds
from training.evaluate.suite import Trial


class RewordedEngine:
    """`Engine`: the inner one, whose video passes hear what `say` was told last."""

    def __init__(self, inner: Engine, manifest: BundleManifest) -> None:
        self._inner = inner
        self.id, self.runs_on, self.graphs = inner.id, inner.runs_on, inner.graphs
        self._words = Words(manifest.text.kind, manifest.text.vocabulary, manifest.text.max_words)
        self._current = manifest.video.tokens_per_frame
        self._text: NDArray | None = None

    def say(self, instruction: str) -> None:
        """The instruction to imagine from now on."""
        self._text = self._inner.run("text", {"tokens": self._words.tokens(instruction)})["text"]

    def inputs(self, graph: str) -> tuple[str, ...]:
        """Of the inner engine."""
        return self._inner.inputs(graph)

    def outputs(self, graph: str) -> tuple[str, ...]:
        """Of the inner engine."""
        return self._inner.outputs(graph)

    def run(self, graph: str, feeds: Feeds) -> dict[str, NDArray]:
        """The inner engine's answer; of a video pass that for the other text, but for the current frame's features."""
        if self._text is None or graph not in ("video_step", "video_tap"):
            return self._inner.run(graph, feeds)
        reworded = self._inner.run(graph, {**feeds, "text": np.repeat(self._text, len(feeds["text"]), 0)})
        if graph == "video_tap":
            own = self._inner.run(graph, feeds)["features"][:, : self._current]
            reworded = {"features": np.concatenate([own, reworded["features"][:, self._current :]], 1)}
        return reworded

    def close(self) -> None:
        """Close the inner engine."""
        self._inner.close()


def another_task(trial: Trial, rotation: int) -> Task:
    """A seen pair with another object and another receptacle than the trial's; always the same for one trial."""
    others = [t for t in seen(rotation) if t.object != trial.task.object and t.receptacle != trial.task.receptacle]
    return others[int(np.random.default_rng([trial.seed, 6]).integers(len(others)))]
