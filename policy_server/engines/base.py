"""Engine: runs the graphs of a bundle. ONNX Runtime, torch and a scripted one; TensorRT fits the same Protocol.

The graphs, their inputs and outputs by name (B branches, T latent frames, N video tokens, L text tokens, H rows):

| graph | in | out |
|---|---|---|
| encode | canvas u8 (1, Hc, Wc, 3) | latent (1, C, 1, h, w) |
| text | tokens i64 (B, W) | text (B, L, Dt) |
| video_step | latents (B, C, T, h, w), timesteps (B, T), text | velocity (B, C, T, h, w) |
| video_tap | as video_step | features (B, N, D) |
| context | features, text, state (B, 14), future_keep (B,) | what the head needs again |
| action_step | rows (B, H, 14), times (B, H), outputs of context, future_keep | velocity (B, H, 14), masses |
| decode | latent (1, C, T, h, w) | frames u8 (1, Tp, Hc, Wc, 3) |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from numpy.typing import NDArray

GRAPHS: Final = ("encode", "text", "video_step", "video_tap", "context", "action_step", "decode")
"""Every graph of a bundle."""


class Engine(Protocol):
    """Runs graphs by name. One thread at a time."""

    @property
    def id(self) -> str:
        """Library, version, device, precision and weights, for logs and ServerInfo."""

    @property
    def runs_on(self) -> str:
        """The device and library that really compute, read back rather than assumed."""

    @property
    def graphs(self) -> tuple[str, ...]:
        """Names of the graphs that can be run."""

    def inputs(self, graph: str) -> tuple[str, ...]:
        """Names of the arrays a graph takes; a graph that needs no `future_keep`, say, does not list it."""

    def outputs(self, graph: str) -> tuple[str, ...]:
        """Names of the arrays a graph gives."""

    def run(self, graph: str, feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Outputs by name, for exactly the inputs listed by `inputs`. Raises `EngineError`."""

    def close(self) -> None:
        """Give up memory and device; no further `run`."""
