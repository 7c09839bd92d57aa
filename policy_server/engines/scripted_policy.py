"""Graphs of a whole policy without a model: rows as given.

The head's velocity points from where the rows are to the scripted rows, so the last Euler step lands on them. Images,
text, noise, state and the imagined future have an `influence` on the rows only where asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from contract.manifest import BundleManifest
from policy_server.engines.scripted import Arrays, ScriptedEngine, ScriptedGraph
from policy_server.engines.scripted_manifest import CELLS, CHANNELS, HEADS, LAYERS

Rows = Callable[[NDArray], NDArray]
"""State (14,) -> absolute rows (H, 14)."""


@dataclass(slots=True)
class Script:
    """What the scripted graphs answer; may be changed between replans."""

    rows: Rows | NDArray | None = None
    """Absolute rows (H, 14) of the answer, counted from model row 0; None = stay at the measured state."""
    current_mass: float = 0.5
    future_mass: float = 0.25
    """TR is future_mass / current_mass at every step, layer, head and row; calibrated quantiles run from 0 to 1."""
    influence: float = 0.0
    """How much image, text, noise and future move the rows; 0 = only `rows` counts."""
    latency_ns: dict[str, int] = field(default_factory=dict)
    """Graph -> time a call takes."""


def scripted_engine(
    manifest: BundleManifest, script: Script | None = None, sleep: Callable[[float], None] = time.sleep
) -> ScriptedEngine:
    """The seven graphs of `manifest` as `script` has them."""
    say = _Graphs(manifest, script or Script())
    in_context = manifest.head.masses_from == "context"
    video = ("latents", "timesteps", "text")
    table = {
        "encode": (("canvas",), ("latent",), say.encode),
        "text": (("tokens",), ("text",), say.text),
        "video_step": (video, ("velocity",), say.video_step),
        "video_tap": (video, ("features",), say.video_tap),
        "context": (
            ("features", "text", "state", "future_keep"),
            ("memory", "masses") if in_context else ("memory",),
            say.context,
        ),
        "action_step": (
            ("rows", "times", "memory"),
            ("velocity",) if in_context else ("velocity", "masses"),
            say.action_step,
        ),
        "decode": (("latent",), ("frames",), say.decode),
    }
    latency = (script or Script()).latency_ns
    return ScriptedEngine({n: ScriptedGraph(*entry, latency.get(n, 0)) for n, entry in table.items()}, sleep)


class _Graphs:
    """Cheap functions with the shapes and dependencies of the real graphs."""

    def __init__(self, manifest: BundleManifest, script: Script) -> None:
        self._manifest = manifest
        self._script = script

    def encode(self, feeds: Arrays) -> dict[str, NDArray]:
        canvas = feeds["canvas"]
        cells = canvas[0, :: canvas.shape[1] // CELLS, :: canvas.shape[2] // CELLS][:CELLS, :CELLS, :CHANNELS]
        return {"latent": (np.moveaxis(cells, -1, 0)[np.newaxis, :, np.newaxis] / np.float32(255.0))}

    def text(self, feeds: Arrays) -> dict[str, NDArray]:
        return {"text": feeds["tokens"][..., np.newaxis].astype(np.float32)}

    def video_step(self, feeds: Arrays) -> dict[str, NDArray]:
        """Predicts that nothing moves but for a shift that the text gives."""
        latents, level = feeds["latents"], feeds["timesteps"][:, np.newaxis, :, np.newaxis, np.newaxis]
        shift = np.float32(0.01) * feeds["text"].mean((1, 2))[:, np.newaxis, np.newaxis, np.newaxis, np.newaxis]
        return {"velocity": (latents - latents[:, :, :1] - shift) / level}

    def video_tap(self, feeds: Arrays) -> dict[str, NDArray]:
        """Tokens are the latent cells, frame-major."""
        latents = feeds["latents"]
        return {"features": np.moveaxis(latents, 1, -1).reshape(len(latents), -1, latents.shape[1])}

    def context(self, feeds: Arrays) -> dict[str, NDArray]:
        """Memory (B, H, 14): the rows that the flow will land on."""
        script, state = self._script, feeds["state"]
        memory = np.stack([self._rows(one) for one in state]).astype(np.float32)
        if script.influence:
            tokens = self._manifest.video.tokens_per_frame
            current, future = feeds["features"][:, :tokens], feeds["features"][:, tokens:]
            seen = current.mean((1, 2)) + feeds["future_keep"] * future.mean((1, 2)) + feeds["text"].mean((1, 2))
            memory += np.float32(script.influence) * seen[:, np.newaxis, np.newaxis]
        outputs = {"memory": memory}
        if self._manifest.head.masses_from == "context":
            outputs["masses"] = self._masses(len(memory))[:, :1]
        return outputs

    def action_step(self, feeds: Arrays) -> dict[str, NDArray]:
        rows, times = feeds["rows"], feeds["times"][..., np.newaxis]
        distance = rows - feeds["memory"] * (1 + np.float32(self._script.influence) * np.tanh(rows))
        velocity = np.divide(distance, times, out=np.zeros_like(distance), where=times > 0)
        if self._manifest.head.masses_from == "context":
            return {"velocity": velocity}
        return {"velocity": velocity, "masses": self._masses(len(rows))}

    def decode(self, feeds: Arrays) -> dict[str, NDArray]:
        """Frames of one grey: the mean of the latent frame they lie in."""
        video, canvas = self._manifest.video, self._manifest.canvas
        per_latent = (video.pixel_frames - 1) // (video.latent_frames - 1)
        grey = np.clip(feeds["latent"][0].mean((0, 2, 3)) * 255.0, 0, 255).astype(np.uint8)
        grey = np.concatenate([grey[:1], np.repeat(grey[1:], per_latent)])
        shape = (1, len(grey), canvas.height, canvas.width, 3)
        return {"frames": np.broadcast_to(grey[np.newaxis, :, np.newaxis, np.newaxis, np.newaxis], shape)}

    def _rows(self, state: NDArray) -> NDArray:
        rows = self._script.rows
        if rows is None:
            return np.repeat(state[np.newaxis], self._manifest.head.horizon, axis=0)
        return rows(state) if callable(rows) else rows

    def _masses(self, branches: int) -> NDArray:
        shape = (branches, LAYERS, HEADS, self._manifest.head.horizon, 2)
        masses = np.empty(shape, np.float32)
        masses[..., 0], masses[..., 1] = self._script.current_mass, self._script.future_mass
        return masses
