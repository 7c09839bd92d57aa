"""The state of a run on disk, without pickle.

Weights, averaged weights and optimiser moments are in safetensors, the rest in JSON.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import torch
from pydantic import ValidationError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from contract.errors import ConfigurationError
from training.ema import Ema
from training.run import Run

STATE, WEIGHTS = "state.json", "state.safetensors"
_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


def save_state(folder: Path, run: Run, step: int, model: nn.Module, ema: Ema, optimiser: torch.optim.Optimizer) -> None:
    """Write both files, each in one step; the JSON comes last and names the weights file that belongs to it."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors.update({f"ema.{name}": value for name, value in ema.model.state_dict().items()})
    for name, parameter in model.named_parameters():
        for key in _MOMENTS:
            if parameter in optimiser.state:
                tensors[f"{key}.{name}"] = optimiser.state[parameter][key]
    name = f"{step:08d}.{WEIGHTS}"
    save_file({key: value.detach().contiguous().clone() for key, value in tensors.items()}, str(folder / name))
    _replace(
        folder / STATE,
        {"step": step, "weights": name, "digest": run.digest(), "run": json.loads(run.model_dump_json())},
    )
    for old in folder.glob(f"*.{WEIGHTS}"):
        if old.name != name:
            old.unlink()


def load_state(folder: Path, run: Run, model: nn.Module, ema: Ema, optimiser: torch.optim.Optimizer) -> int:
    """Put the saved state back; returns the step, 0 when there is none.

    Raises `ConfigurationError` listing what differs when the state is of another run.
    """
    if not (folder / STATE).is_file():
        return 0
    noted = json.loads((folder / STATE).read_text(encoding="utf-8"))
    require_same_run(folder, noted["run"], run)
    saved = load_file(str(folder / noted["weights"]))
    model.load_state_dict(_under("model.", saved))
    ema.model.load_state_dict(_under("ema.", saved))
    for name, parameter in model.named_parameters():
        if f"exp_avg.{name}" in saved:
            optimiser.state[parameter] = {key: saved[f"{key}.{name}"].to(parameter.device) for key in _MOMENTS}
    return int(noted["step"])


def require_same_run(folder: Path, noted: dict, run: Run) -> None:
    """Raises `ConfigurationError` naming every key that differs.

    A key that came into being after the run was started counts as having had its default.
    """
    mine, noted = json.loads(run.model_dump_json()), _with_defaults(noted)
    differing = [key for key in sorted({*mine, *noted}) if mine.get(key) != noted.get(key)]
    if differing:
        raise ConfigurationError(
            f"resume of {folder}",
            expected="the run it was started with",
            got="; ".join(f"{key} was {noted.get(key)}, is {mine.get(key)}" for key in differing),
            remedy="give the changed run another name, or delete the folder",
        )


def _with_defaults(noted: dict) -> dict:
    try:
        return json.loads(Run.model_validate(noted).model_dump_json())
    except ValidationError:
        return noted


def _under(prefix: str, saved: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key.removeprefix(prefix): value for key, value in saved.items() if key.startswith(prefix)}


def _replace(path: Path, content: dict) -> None:
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    os.replace(scratch, path)
