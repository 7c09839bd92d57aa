"""`yam-train clone`: the baseline without video, trained and tried.

Its file is as of any run of the action stage; of `action` count `look_weight`, `mirror` and `state_noise`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import torch

from policy_server.model.policy import VideoActionModel
from policy_server.model.presets import preset
from robot_client.twin.cameras import Size
from robot_client.twin.twin import make_twin
from training.cloning.network import Cloner
from training.cloning.policy import ClonedPolicy
from training.cloning.stage import CloningStage
from training.evaluate.about import describe
from training.evaluate.outcome_file import fill
from training.evaluate.rollout import run_trial
from training.evaluate.summary import report
from training.evaluate.wanted import Wanted
from training.run import Run
from training.stages.materials import gather
from training.trainer import Trainer


def train_cloner(
    run: Run, folder: Path, said: str, say: Callable[[str], None] = print, stop_at: int | None = None
) -> Path:
    """The checkpoint of a run; the trainer only asks a model for parameters, buffers and its configuration."""
    config = preset(run.size)
    materials = gather(run, config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(run.seed)
        model = cast(VideoActionModel, Cloner(config))
    return Trainer(run, CloningStage(run, materials), model, folder, say).train(said, stop_at)


def clone_and_try(
    run: Run, wanted: Wanted, out: Path, outcomes: Path, said: str, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Train the run into `out`, or go on, then try it; outcomes lie where those of other policies do."""
    policy = ClonedPolicy(train_cloner(run, out / run.name, said, say))
    folder = outcomes / policy.manifest.model_id
    describe(folder, policy.manifest, run.rotation)
    twin = make_twin({view.role: Size(view.width, view.height) for view in policy.manifest.canvas.views})
    path = folder / f"rotation{run.rotation}-masked.jsonl"
    tried = fill(path, wanted.trials(), lambda trial: run_trial(policy, twin, trial), "trials of the clone", say)
    twin.close()
    for line in report(tried):
        say(line)
    return tried
