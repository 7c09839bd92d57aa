"""A toy model size and drawn demonstrations, so that training is tested in seconds and without physics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from policy_server.model import presets
from policy_server.model.config import ModelConfig
from robot_client.twin.tasks import TASKS
from training.data.settings import TRAIN_SEEDS_FROM
from training.data.shard import EpisodeEntry, Recording, write_shard
from training.run import ActionLoss, Optimisation, Run

LENGTH, WORKING = 12, 9


def toy() -> ModelConfig:
    """The grasper's structure with next to nothing in it."""
    full = presets.grasper()
    return full.model_copy(
        update={
            "name": "toy",
            "latent": full.latent.model_copy(update={"channels": 12, "block_channels": 8, "width": 4}),
            "text": full.text.model_copy(update={"width": 8}),
            "backbone": full.backbone.model_copy(
                update={
                    "layers": 2, "heads": 1, "head_dim": 16, "adaln_lora_dim": 4, "tap_block": 0,
                    "current_only_channels": 4,
                }
            ),
            "head": full.head.model_copy(update={"width": 16, "layers": 1, "heads": 2, "head_dim": 4}),
        }
    )  # fmt: skip


@pytest.fixture(autouse=True)
def toy_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """`size = "toy"` in a run."""
    monkeypatch.setitem(presets.PRESETS, "toy", toy)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """A toy is too small to share among threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def drawn(number: int) -> Recording:
    """A demonstration of noise whose targets tell which demonstration and moment they belong to."""
    rng = np.random.default_rng(number)
    task = TASKS[number % len(TASKS)]
    targets = np.full((LENGTH, 14), float(number), np.float32) + 0.01 * np.arange(LENGTH, dtype=np.float32)[:, None]
    return Recording(
        EpisodeEntry(TRAIN_SEEDS_FROM + number, task.object, task.receptacle, 0, LENGTH, WORKING, 1),
        rng.integers(0, 256, (LENGTH, 64, 96, 3), np.uint8),
        rng.normal(0.0, 1.0, (LENGTH, 14)).astype(np.float32),
        targets,
        np.zeros(LENGTH, np.uint8),
    )


@pytest.fixture(scope="session")
def drawn_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with three demonstrations of every pair in two shards."""
    folder = tmp_path_factory.mktemp("data")
    write_shard(folder / "shard-0000", [drawn(number) for number in range(32)])
    write_shard(folder / "shard-0001", [drawn(number) for number in range(32, 48)])
    return folder


@pytest.fixture
def run(drawn_data: Path) -> Run:
    """A toy run of the action stage, half of its steps joint."""
    return Run(
        name="toy",
        stage="action",
        data=(drawn_data,),
        size="toy",
        optimisation=Optimisation(steps=6, batch=4, warmup_steps=2, ema=0.9),
        action=ActionLoss(joint_share=0.5, joint_batch=6, draws=2),
        save_every=3,
        log_every=3,
    )
