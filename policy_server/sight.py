"""Video features and text of each branch of one replan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contract.types import Branch
from policy_server.question import Question
from policy_server.stages import Stopwatch
from policy_server.text import TextContexts
from policy_server.video import VideoModel


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What one branch sees."""

    features: NDArray
    """(1, N, D)."""
    text: NDArray
    """(1, L, Dt)."""


class Sight:
    """Views of one replan, filled as branches turn out to be needed: one batch of video forwards a call.

    "nolang" needs a forward of its own, with the null text; "noplan" looks at the forward of "full" with the future
    masked in the head.
    """

    def __init__(self, question: Question, video: VideoModel, texts: TextContexts) -> None:
        self._question = question
        self._video = video
        self._texts = texts
        self._views: dict[Branch, View] = {}

    def add(self, branches: Iterable[Branch], watch: Stopwatch) -> None:
        """Run the video model for those of `branches` that have no view yet."""
        new = [branch for branch in branches if branch != "noplan" and branch not in self._views]
        if not new:
            return
        question = self._question
        texts = [question.text if branch == "full" else self._texts.null(watch) for branch in new]
        features = self._video.features(question.latent, question.video_noise, np.concatenate(texts), watch)
        for i, branch in enumerate(new):
            self._views[branch] = View(features[i : i + 1], texts[i])

    def of(self, branch: Branch) -> View:
        """What `branch` sees."""
        return self._views["full" if branch == "noplan" else branch]
