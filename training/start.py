"""From a run's file to a trainer ready to go: data, model, weights to start from, stage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from contract.errors import ConfigurationError
from policy_server.model.checkpoint import load_checkpoint, save_checkpoint
from policy_server.model.config import ModelConfig
from policy_server.model.policy import VideoActionModel, build
from policy_server.model.presets import preset
from training.adaptation import adapt
from training.adopt import adopt
from training.card import card_of
from training.design import designed, redesigned
from training.run import AS_START, Run
from training.same_data import require_room, require_same_data
from training.stages.action import ActionStage
from training.stages.base import Stage
from training.stages.foresight import ForesightStage
from training.stages.joint import JointStage
from training.stages.latent import fit_latent
from training.stages.materials import Materials, gather
from training.stages.video import VideoStage
from training.team import Team
from training.trainer import CHECKPOINT, Trainer


def train(run: Run, folder: Path, command: str, say: Callable[[str], None] = print, stop_at: int | None = None) -> Path:
    """Train a run into `folder`; returns the checkpoint folder."""
    team = Team()
    model = starting_model(run, say)
    materials = gather(run, model.config)
    require_same_data(run, materials)
    require_room(folder, model)
    if not run.start:
        told = fit_latent(model, materials, run.seed)
        say("latent: " + ", ".join(f"{name} {value:.3f}" for name, value in told.items()))
    if run.stage == "latent":
        save_checkpoint(model, card_of(run, materials, command, trained=False), folder / CHECKPOINT)
        return folder / CHECKPOINT
    adapt(model, run)
    return Trainer(run, _stage(run, model.config, materials), model, folder, say, team).train(command, stop_at)


def starting_model(run: Run, say: Callable[[str], None] = print) -> VideoActionModel:
    """New weights from the seed, or those of the checkpoint the run starts from."""
    if not run.start:
        return build(designed(preset(_named(run)), run.design), run.seed)
    model = load_checkpoint(Path(run.start)).model
    if run.adopt:
        adopting = build(designed(preset(run.size), run.design), run.seed)
        say(f"new weights, not adopted: {', '.join(adopt(adopting, model)) or 'none'}")
        return adopting
    model = redesigned(model, run.design)
    if run.size != AS_START and model.config != designed(preset(run.size), run.design):
        raise ConfigurationError(
            f"start {run.start}",
            expected=f"a model of size {run.size}",
            got=model.config.name,
            remedy="correct `start`",
        )
    if run.fresh_head or run.head_start:
        model.head.load_state_dict(build(model.config, run.seed).head.state_dict())
    if run.head_start:
        left = adopt(model, load_checkpoint(Path(run.head_start)).model, part="head.")
        say(f"new weights of the head, not adopted: {', '.join(left) or 'none'}")
    return model


def _named(run: Run) -> str:
    if run.size == AS_START:
        raise ConfigurationError("size", expected="a name", got=run.size, remedy="or say in `start` what to start from")
    return run.size


def _stage(run: Run, config: ModelConfig, materials: Materials) -> Stage:
    if run.stage == "video":
        return VideoStage(run, materials)
    if config.backbone.attention == "bidirectional":
        return JointStage(run, materials)
    if config.text.reaches == "future":
        return ForesightStage(run, materials)
    return ActionStage(run, materials)
