"""One observation as the graphs take it."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from numpy.typing import NDArray

from contract.manifest import BundleManifest
from contract.types import Observation
from policy_server.canvas import CanvasTiler
from policy_server.noise import Noise
from policy_server.stages import Stages, Stopwatch
from policy_server.statistics import Normaliser
from policy_server.text import TextContexts
from policy_server.video import noise_shape

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """Everything the policy looks at."""

    latent: NDArray
    """(1, C, 1, h, w) of the current canvas."""
    text: NDArray
    """(1, L, Dt) of the instruction."""
    state: NDArray
    """(1, 14) normalised."""
    prefix: NDArray
    """(P, 14) normalised."""
    video_noise: NDArray
    """(C, T - 1, h, w), drawn first."""
    action_noise: NDArray
    """(H, 14), drawn second."""


class QuestionMaker:
    """Observation -> Question, on a canvas of its own."""

    def __init__(self, manifest: BundleManifest, stages: Stages, texts: TextContexts) -> None:
        self._tiler = CanvasTiler(manifest.canvas)
        self._normaliser = Normaliser(manifest)
        self._video_shape = noise_shape(manifest.video)
        self._rows_shape = (manifest.head.horizon, len(manifest.action.kinds))
        self._stages = stages
        self._texts = texts
        self._absent: tuple[str, ...] = ()

    def make(self, observation: Observation, watch: Stopwatch) -> Question:
        """Raises `VocabularyError` or `FieldError` before any pixel is touched or graph run for nothing."""
        text = self._texts.encode(observation.instruction, watch)
        watch.stage("text")
        self._report(self._tiler.fill(observation.images))
        watch.stage("canvas")
        latent = self._stages.run("encode", {"canvas": self._tiler.pixels}, watch)["latent"]
        watch.stage("encode")
        noise = Noise(observation.seed)
        question = Question(
            latent=latent,
            text=text,
            state=self._normaliser.state(observation.joints),
            prefix=self._normaliser.prefix(observation.prefix, observation.joints),
            video_noise=noise.draw(self._video_shape),
            action_noise=noise.draw(self._rows_shape),
        )
        watch.stage("prepare")
        return question

    def _report(self, absent: tuple[str, ...]) -> None:
        """Say once, not at every replan, that an optional view is black."""
        if absent != self._absent:
            _log.warning("optional views without an image, shown black to the policy: %s", ", ".join(absent) or "none")
            self._absent = absent
