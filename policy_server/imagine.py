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
from contract.wire import MAX_ARRAY_BYTES
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
        """Frames of the current moment and of `chunks` chunks after it, each as long as the policy's video.

        A decoder that is not upsampled in time gives one frame for each latent frame; the frames' step says so.
        `between` is called before every pass of the video model: the place where a server answers replans. Raises
        `FieldError`, `VocabularyError` or `EngineError`.
        """
        observation = request.observation
        _require_chunks(request.chunks)
        watch = Stopwatch(self._clock)
        text = self._texts.encode(observation.instruction, watch)
        tiler = CanvasTiler(self._canvas)
        tiler.fill(observation.images)
        noise = Noise(observation.seed)
        parts: list[NDArray] = []
        pixels: NDArray = tiler.pixels
        for _ in range(request.chunks):
            frames = self._chunk(pixels, noise.draw(noise_shape(self._spec)), text, watch, between)
            self._require_room(len(frames), request.chunks)
            pixels = frames[-1:]
            parts.append(frames[1:] if parts else frames)
        return ImaginedFrames(
            session=observation.session,
            epoch=observation.epoch,
            sequence=observation.sequence,
            frames=np.concatenate(parts),
            frame_step_ns=self._frame_step_ns(len(parts[0])),
            durations_ns=watch.durations_ns(),
        )

    def _chunk(
        self, pixels: NDArray, noise: NDArray, text: NDArray, watch: Stopwatch, between: Callable[[], None]
    ) -> NDArray:
        """Frames (F, height, width, 3) imagined from one canvas (1, height, width, 3)."""
        latent = self._stages.run("encode", {"canvas": pixels}, watch)["latent"]
        watch.stage("encode")
        latents = self._video.imagine(latent, noise, text, watch, between)
        watch.stage("video")
        frames = self._stages.run("decode", {"latent": latents}, watch)["frames"]
        watch.stage("decode")
        size = (self._canvas.height, self._canvas.width, 3)
        if frames.ndim != 5 or frames.shape[2:] != size or frames.dtype != np.uint8:
            raise self._wrong_frames(f"uint8 (1, F, {size[0]}, {size[1]}, 3)", f"{frames.dtype} {frames.shape}")
        return frames[0]

    def _require_room(self, decoded: int, chunks: int) -> None:
        """All frames travel as one array; more of them are refused after the first chunk, not after the last."""
        room, new = MAX_ARRAY_BYTES // (self._canvas.height * self._canvas.width * 3), max(decoded - 1, 1)
        if 1 + chunks * new > room:
            raise FieldError(
                "chunks",
                expected=f"at most {(room - 1) // new} of {decoded} frames of this canvas in one message",
                got=chunks,
                remedy="ask for fewer chunks",
            )

    def _frame_step_ns(self, decoded: int) -> int:
        """Time between decoded frames: the video's whole length over the steps between them."""
        length = self._spec.pixel_frames - 1
        if decoded < 2 or length % (decoded - 1):
            raise self._wrong_frames(f"{self._spec.pixel_frames} or {self._spec.latent_frames} frames", decoded)
        return self._spec.frame_step_ns * (length // (decoded - 1))

    def _wrong_frames(self, expected: str, got: object) -> EngineError:
        return EngineError("frames of decode", expected=expected, got=got, remedy="export the bundle again")


def _require_chunks(chunks: int) -> None:
    if not 1 <= chunks <= MAX_CHUNKS:
        raise FieldError("chunks", expected=f"1 to {MAX_CHUNKS}", got=chunks, remedy="ask for fewer chunks")
