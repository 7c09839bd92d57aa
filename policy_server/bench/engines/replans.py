"""A whole replan on the device, as the captured torch engine runs it: passes, context and flow steps by branches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import torch

from policy_server.bench.engines.work import Work
from policy_server.engines.torch_captured import CapturedTorchEngine, captured_engine
from policy_server.export.manifest import manifest_of
from policy_server.export.precision import Precision
from policy_server.model.checkpoint import Checkpoint
from policy_server.model.config import ModelConfig
from policy_server.model.policy import VideoActionModel, build
from policy_server.model.untrained import untrained_card

_FIRST: Final = (("see", 0, 1), ("read", "full"), ("act", 1))
PIECES: Final[dict[int, tuple[tuple[object, ...], ...]]] = {
    1: _FIRST,
    2: (*_FIRST, ("see", 1, 1), ("read", "nolang"), ("act", 2)),
    3: (*_FIRST, ("see", 1, 1), ("read", "nolang", "noplan"), ("act", 3)),
}
"""What a replan launches: the conditional branch, which gives TR, then all branches in one batch."""


def random_model(config: ModelConfig, device: torch.device) -> VideoActionModel:
    """Random weights, on the CPU; drawn on the device, where two billion of them take no minute."""
    with device:
        model = build(config, seed=0)
    return model.to("cpu")


def loops_engine(
    model: VideoActionModel, precision: Precision, device: torch.device, compiled: bool
) -> CapturedTorchEngine:
    """The engine of a model whose weights are nobody's."""
    card = untrained_card(model.config, 0, "twin", "a benchmark")
    return captured_engine(model, manifest_of(Checkpoint(model, card), precision), device.type, compiled)


def replan_call(engine: CapturedTorchEngine, branches: int) -> Callable[[], None]:
    """One replan on the device, without the host's copies."""
    pieces = [engine.loops.pieces[key] for key in PIECES[branches]]

    def call() -> None:
        for piece in pieces:
            piece.launch()

    return call


def replan_work(config: ModelConfig, works: Mapping[str, Work], branches: int) -> Work:
    """Work of such a replan out of that of its graphs, counted for one branch."""
    passes, steps = config.backbone.passes, config.head.flow_steps

    def video() -> list[Work]:
        return [*[works["video_step"]] * passes, works["video_tap"]]

    parts = [*video(), works["context"], *[works["action_step"]] * steps]
    if branches > 1:
        parts += [*video(), works["context"].of(branches - 1), *[works["action_step"].of(branches)] * steps]
    return sum(parts[1:], start=parts[0])
