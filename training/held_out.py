"""How well a policy of size `foresight` does on demonstrations of held-out pairs, whose actions no training saw.

    python -m training.held_out RUN.toml CHECKPOINT ...

prints one JSON line a checkpoint: for fresh demonstrations of seen (id) and held-out (ood) pairs the error of the rows
with the future kept, masked and imagined for another instruction, and how far off the taught attention heads look.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import torch

from policy_server.model.checkpoint import load_checkpoint
from policy_server.model.policy import VideoActionModel
from robot_client.twin.tasks import held_out, seen
from training.data.aims import aims_of
from training.data.library import Moments
from training.data.samples import Sampler
from training.run import Run, read_run
from training.stages.foresight import ForesightStage
from training.stages.materials import Materials, gather


def with_held_out(run: Run, materials: Materials, model: VideoActionModel) -> tuple[Materials, Moments]:
    """Materials that also read the actions of held-out pairs, for measuring alone, and the fresh moments of those."""
    hidden = held_out(run.rotation)
    fresh = materials.library.moments(hidden, working_only=True, validation=True, every=run.moment_every)
    sampler = Sampler(materials.library, model.config, hidden + seen(run.rotation))
    places = {**materials.places, id(fresh): aims_of(materials.library, fresh)}
    return replace(materials, sampler=sampler, places=places), fresh


def main(arguments: list[str]) -> None:
    """See the module."""
    torch.set_num_threads(1)
    run = read_run(Path(arguments[0]))
    models = [load_checkpoint(Path(folder)).model for folder in arguments[1:]]
    materials, fresh = with_held_out(run, gather(run, models[0].config), models[0])
    stage = ForesightStage(run, materials)
    for folder, model in zip(arguments[1:], models, strict=True):
        splits = {"id": materials.acting_validation, "ood": fresh}
        found = {split: stage.errors_of(model, moments) for split, moments in splits.items()}
        print(json.dumps({"checkpoint": folder, **found}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
