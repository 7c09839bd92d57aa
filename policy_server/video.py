"""The video model's passes: anchored frame, Euler steps from noise, the tap. PAPER.md, "Features, exactly".

Flow convention: x_s = (1 - s) * data + s * noise; velocity = noise - data; x <- x - ds * velocity, s from 1 down.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from contract.architecture import Video
from policy_server.stages import Stages, Stopwatch


def noise_shape(video: Video) -> tuple[int, int, int, int]:
    """(C, T - 1, h, w): the future's noise."""
    return (video.latent_channels, video.latent_frames - 1, video.latent_height, video.latent_width)


class VideoModel:
    """Denoises the future of a latent current frame."""

    def __init__(self, video: Video, stages: Stages) -> None:
        self._video = video
        self._stages = stages

    def features(self, latent: NDArray, noise: NDArray, text: NDArray, watch: Stopwatch) -> NDArray:
        """Hidden states (B, N, D) after the tapped block at sigma, for texts (B, L, Dt) from the same noise."""
        video = self._video
        latents = self._denoise(latent, noise, text, (video.passes, video.sigma), watch)
        return self._stages.run("video_tap", self._pool(latents, video.sigma, text), watch)["features"]

    def imagine(
        self, latent: NDArray, noise: NDArray, text: NDArray, watch: Stopwatch, between: Callable[[], None]
    ) -> NDArray:
        """Clean latents (1, C, T, h, w) of the imagined video; `between` is called before every pass."""
        return self._denoise(latent, noise, text, (self._video.imagine_passes, 0.0), watch, between)

    def _denoise(
        self,
        latent: NDArray,
        noise: NDArray,
        text: NDArray,
        schedule: tuple[int, float],
        watch: Stopwatch,
        between: Callable[[], None] = lambda: None,
    ) -> NDArray:
        """Latents (B, C, T, h, w) at the schedule's end, frame 0 clean.

        Frame 0 is written once and its velocity never applied, which is what writing it back before each pass means.
        """
        passes, end = schedule
        latents = self._start(latent, noise, len(text))
        levels = np.linspace(1.0, end, passes + 1) if passes else ()
        for step in range(passes):
            between()
            pool = self._pool(latents, levels[step], text)
            velocity = self._stages.run("video_step", pool, watch, step)["velocity"]
            latents[:, :, 1:] -= np.float32(levels[step] - levels[step + 1]) * velocity[:, :, 1:]
        return latents

    def _start(self, latent: NDArray, noise: NDArray, branches: int) -> NDArray:
        one = np.concatenate([latent, noise[np.newaxis]], axis=2)
        return np.repeat(one, branches, axis=0)

    def _pool(self, latents: NDArray, level: float, text: NDArray) -> dict[str, NDArray]:
        timesteps = np.full((len(latents), self._video.latent_frames), level, np.float32)
        timesteps[:, 0] = self._video.conditional_timestep
        return {"latents": latents, "timesteps": timesteps, "text": text}
