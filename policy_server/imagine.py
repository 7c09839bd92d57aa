"""Long imagination: the predicted video after one observation, chunk by chunk.

Each chunk is denoised to s = 0 and decoded; its last frame becomes the current frame of the next one, and that
duplicate is dropped (PAPER.md, "How the authors prepare video").
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from contract.errors import EngineError, FieldError
from contract.manifest import BundleManifest
from contract.types import ImaginedFrames, ImagineRequest
from policy_server.canvas import CanvasTiler
from policy_server.noise import Noise
from policy_server.stages import Stages, Stopwatch
from policy_server.text import TextContexts
from policy_server.video import VideoModel, noise_shape

MAX_CHUNKS = 10


class Imaginer:
    """Predicts video with the same engine as replans, on a canvas of its own, so replans may run in between."""

    def __init__(
        self,
        manifest: BundleManifest,
        stages: Stages,
        texts: TextContexts,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._spec = manifest.video
        self._canvas = manifest.canvas
        self._stages = stages
        self._texts = texts
        self._clock = clock
        self._video = VideoModel(manifest.video, stages)

    def imagine(self, request: ImagineRequest, between: Callable[[], None]) -> ImaginedFrames:
        """Frames (1 + chunks * (pixel frames - 1), height, width, 3) uint8 RGB; frame 0 is the decoded current one.

        `between` is called before every pass of the video model: the place where a server answers replans. Raises
        `FieldError`, `VocabularyError` or `EngineError`.
        """
        _require_chunks(request.chunks)
        watch = Stopwatch(self._clock)
        text = self._texts.encode(request.observation.instruction, watch)
        tiler = CanvasTiler(self._canvas)
        tiler.fill(request.observation.images)
        noise = Noise(request.observation.seed)
        film = self._film(request.chunks)
        pixels: NDArray = tiler.pixels
        per_chunk = self._spec.pixel_frames - 1
        for chunk in range(request.chunks):
            frames = self._chunk(pixels, noise.draw(noise_shape(self._spec)), text, watch, between)
            film[chunk * per_chunk + bool(chunk) : (chunk + 1) * per_chunk + 1] = frames[bool(chunk) :]
            pixels = film[np.newaxis, (chunk + 1) * per_chunk]
        observation = request.observation
        return ImaginedFrames(
            session=observation.session,
            epoch=observation.epoch,
            sequence=observation.sequence,
            frames=film,
            frame_step_ns=self._spec.frame_step_ns,
            durations_ns=watch.durations_ns(),
        )

    def _film(self, chunks: int) -> NDArray[np.uint8]:
        count = 1 + chunks * (self._spec.pixel_frames - 1)
        return np.empty((count, self._canvas.height, self._canvas.width, 3), np.uint8)

    def _chunk(
        self, pixels: NDArray, noise: NDArray, text: NDArray, watch: Stopwatch, between: Callable[[], None]
    ) -> NDArray:
        """Frames (pixel frames, height, width, 3) imagined from one canvas (1, height, width, 3)."""
        latent = self._stages.run("encode", {"canvas": pixels}, watch)["latent"]
        watch.stage("encode")
        latents = self._video.imagine(latent, noise, text, watch, between)
        watch.stage("video")
        frames = self._stages.run("decode", {"latent": latents}, watch)["frames"]
        watch.stage("decode")
        expected = (1, self._spec.pixel_frames, self._canvas.height, self._canvas.width, 3)
        if frames.shape != expected or frames.dtype != np.uint8:
            raise EngineError(
                "frames of decode",
                expected=f"uint8 {expected}",
                got=f"{frames.dtype} {frames.shape}",
                remedy="export the bundle again: pixel_frames or canvas are not what the decoder gives",
            )
        return frames[0]


def _require_chunks(chunks: int) -> None:
    if not 1 <= chunks <= MAX_CHUNKS:
        raise FieldError("chunks", expected=f"1 to {MAX_CHUNKS}", got=chunks, remedy="ask for fewer chunks")
