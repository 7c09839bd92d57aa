"""`python -m training.cloning RUN.toml`: train the cloned policy, or go on; then try it on the twin.

The run's file is as of any run of the action stage; of `action` count `look_weight`, `mirror` and `state_noise`.
Outcomes go where `yam-train evaluate` puts them, in the same form.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import torch
import tyro

from policy_server.model.policy import VideoActionModel
from policy_server.model.presets import preset
from robot_client.twin import gl
from robot_client.twin.cameras import Size
from robot_client.twin.twin import make_twin
from training.cli import command
from training.cloning.network import Cloner
from training.cloning.policy import ClonedPolicy
from training.cloning.stage import CloningStage
from training.evaluate.about import describe
from training.evaluate.outcome_file import fill
from training.evaluate.rollout import run_trial
from training.evaluate.summary import report
from training.evaluate.wanted import Wanted
from training.run import Run, read_run
from training.stages.materials import gather
from training.trainer import Trainer


def train_cloner(run: Run, folder: Path, said: str, stop_at: int | None = None) -> Path:
    """The checkpoint of a run; the trainer only asks a model for parameters, buffers and its configuration."""
    config = preset(run.size)
    materials = gather(run, config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(run.seed)
        model = cast(VideoActionModel, Cloner(config))
    return Trainer(run, CloningStage(run, materials), model, folder).train(said, stop_at)


def main(
    file: Annotated[Path, tyro.conf.Positional],
    per_pair: int = 10,
    first_seed: int = 1000,
    out: Path = Path("out/train"),
    outcomes: Path = Path("out/evaluate"),
) -> None:
    """See the module.

    Args:
        file: TOML file of the run.
        per_pair: layouts per pair.
        first_seed: seed of the first layout.
        out: the run gets a folder of its name in here.
        outcomes: folder for the outcomes.
    """
    torch.set_num_threads(1)
    run = read_run(file)
    policy = ClonedPolicy(train_cloner(run, out / run.name, command()))
    folder = outcomes / policy.manifest.model_id
    describe(folder, policy.manifest, run.rotation)
    wanted = Wanted(run.rotation, per_pair, first_seed=first_seed)
    path = folder / f"rotation{run.rotation}-masked.jsonl"
    twin = make_twin({view.role: Size(view.width, view.height) for view in policy.manifest.canvas.views})
    tried = fill(path, wanted.trials(), lambda trial: run_trial(policy, twin, trial), "trials of the clone", print)
    print("\n".join(report(tried)))
    twin.close()


if __name__ == "__main__":
    gl.choose()
    tyro.cli(main)
