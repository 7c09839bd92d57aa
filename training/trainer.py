"""The loop that every stage shares: loss, step, average, log, save, resume."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import torch
from safetensors import SafetensorError
from torch import nn

from contract.errors import ConfigurationError
from policy_server.model.checkpoint import save_checkpoint
from policy_server.model.policy import VideoActionModel
from training.adaptation import merged
from training.ema import Ema
from training.log import Log
from training.progress import Progress
from training.run import Optimisation, Run
from training.stages.base import Chance, Stage
from training.state import load_state, save_state
from training.team import Team

CHECKPOINT, LOG, STATE_FOLDER = "checkpoint", "log.jsonl", "state"


class Trainer:
    """Trains one stage into a folder; starting it again goes on where it was saved last."""

    def __init__(
        self,
        run: Run,
        stage: Stage,
        model: VideoActionModel,
        folder: Path,
        say: Callable[[str], None] = print,
        team: Team | None = None,
    ) -> None:
        self._run, self._stage, self._model, self._folder, self._say = run, stage, model, folder, say
        self._team = team or Team()
        self._parameters = _only(model, stage.trained(model))
        self._ema = Ema(model, run.optimisation.ema)
        self._optimiser = _adamw(self._parameters, run.optimisation)

    def train(self, command: str, stop_at: int | None = None) -> Path:
        """Train to the end, or to step `stop_at`; returns the checkpoint folder, which holds the averaged weights."""
        run, model, total = self._run, self._model, self._run.optimisation.steps
        step = load_state(self._folder / STATE_FOLDER, run, model, self._ema, self._optimiser)
        log = Log(self._folder / LOG, step) if self._team.main else None
        progress = Progress(total, done=step, what=f"steps of {run.name}", every_s=0.0, say=self._say)
        last = min(total, stop_at if stop_at is not None else total)
        model.train()
        since, counted = time.perf_counter(), 0
        while step < last:
            values = self._one(step)
            step, counted = step + 1, counted + 1
            if log is None:
                continue
            log.add(values)
            if step % run.log_every == 0 or step == last:
                rate = counted / (time.perf_counter() - since)
                validated = self._stage.validate(self._ema.model)
                log.add({f"fresh_{name}": value for name, value in validated.items()})
                note = log.write(step=step, learning_rate=self._rate(step), steps_s=rate)
                progress.step(f"{note}, {rate:.2f} steps/s", counted)
                since, counted = time.perf_counter(), 0
            if step % run.save_every == 0 or step == last:
                self._save(step, command)
        self._team.wait()
        return self._folder / CHECKPOINT

    def _one(self, step: int) -> dict[str, float]:
        """One optimiser step; returns what to log."""
        loss, values = self._stage.loss(self._model, Chance(self._run.seed, step, self._team.number))
        if not torch.isfinite(loss):
            raise ConfigurationError(
                f"loss at step {step}", expected="a finite number", got=float(loss), remedy="lower the learning rate"
            )
        loss.backward()
        self._team.average(self._parameters)
        nn.utils.clip_grad_norm_(self._parameters, self._run.optimisation.clip_norm)
        for group in self._optimiser.param_groups:
            group["lr"] = self._rate(step)
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        self._ema.update(self._model, step)
        return values

    def _rate(self, step: int) -> float:
        """Learning rate: a straight line up, then a cosine to zero."""
        settings = self._run.optimisation
        warm = min(1.0, (step + 1) / max(settings.warmup_steps, 1))
        return settings.learning_rate * warm * 0.5 * (1 + math.cos(math.pi * min(step / settings.steps, 1.0)))

    def _save(self, step: int, command: str) -> None:
        """Raises `ConfigurationError` when it cannot be written; what was saved before stays and is gone on from."""
        try:
            save_state(self._folder / STATE_FOLDER, self._run, step, self._model, self._ema, self._optimiser)
            save_checkpoint(merged(self._ema.model), self._stage.card(command), self._folder / CHECKPOINT)
        except (OSError, SafetensorError) as error:
            raise ConfigurationError(
                f"state of step {step} in {self._folder}",
                expected="room on the disk",
                got=error,
                remedy="free some space and give the same command again: it goes on from the state saved before",
            ) from error


def _only(model: VideoActionModel, trained: Iterable[nn.Parameter]) -> list[nn.Parameter]:
    """The trained parameters; all others stop asking for gradients."""
    chosen = list(trained)
    model.requires_grad_(False)
    for parameter in chosen:
        parameter.requires_grad_(True)
    return chosen


def _adamw(parameters: list[nn.Parameter], settings: Optimisation) -> torch.optim.AdamW:
    """Weight decay on matrices only."""
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": settings.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, betas=settings.betas, fused=True)
