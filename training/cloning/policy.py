"""A cloned policy as the evaluation asks any policy: an observation in, a chunk out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import torch
from safetensors.torch import load_file

from contract.manifest import BundleManifest
from contract.types import ActionChunk, GuidanceScales, Observation, TemporalRatio
from policy_server.canvas import CanvasTiler
from policy_server.export.manifest import manifest_of
from policy_server.model.card import PolicyCard
from policy_server.model.checkpoint import CARD, CONFIG, WEIGHTS, Checkpoint
from policy_server.model.config import ModelConfig
from policy_server.model.policy import build
from policy_server.statistics import Normaliser
from policy_server.words import Words
from training.cloning.network import Cloner

_NO_RATIO: Final = TemporalRatio(0.0, 0.0, float("nan"), np.zeros((0, 0, 0, 0, 2), np.float32))
"""Nothing of a future is there to be looked at."""


class ClonedPolicy:
    """Committed rows are continued from the state measured now; they are not looked at."""

    def __init__(self, folder: Path) -> None:
        config = ModelConfig.model_validate_json((folder / CONFIG).read_text(encoding="utf-8"))
        card = PolicyCard.model_validate_json((folder / CARD).read_text(encoding="utf-8"))
        self.manifest: BundleManifest = manifest_of(Checkpoint(build(config, 0), card), "fp32")
        self._model = Cloner(config)
        self._model.load_state_dict(load_file(str(folder / WEIGHTS)))
        self._model.eval()
        text = self.manifest.text
        self._words = Words(text.kind, text.vocabulary, text.max_words)
        self._tiler, self._normaliser = CanvasTiler(self.manifest.canvas), Normaliser(self.manifest)

    @torch.no_grad()
    def replan(self, observation: Observation, elapsed_ns: Callable[[], int]) -> ActionChunk:
        """Rows from the observation's `first_row` on."""
        self._tiler.fill(observation.images)
        tokens = torch.from_numpy(self._words.tokens(observation.instruction))
        state = torch.from_numpy(self._normaliser.state(observation.joints))
        normal, _ = self._model(torch.from_numpy(self._tiler.pixels), tokens, state)
        rows = self._normaliser.rows(normal[0].numpy(), observation.joints)[len(observation.prefix) :]
        return ActionChunk(
            session=observation.session,
            epoch=observation.epoch,
            sequence=observation.sequence,
            observation_stamp_ns=observation.stamp_ns,
            first_row=observation.first_row,
            rows=rows,
            temporal_ratio=_NO_RATIO,
            scales=GuidanceScales(0.0, 0.0),
            branches_run=("full",),
            branches_dropped=(),
            durations_ns={},
            engine_id="torch/fp32/cloned",
        )
