"""A checkpoint folder: `config.json` (sizes), `card.json` (statistics, provenance), `weights.safetensors`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from contract.errors import BundleError
from policy_server.model.card import PolicyCard
from policy_server.model.config import ModelConfig
from policy_server.model.policy import VideoActionModel

CONFIG, CARD, WEIGHTS = "config.json", "card.json", "weights.safetensors"

Parsed = TypeVar("Parsed", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A loaded folder."""

    model: VideoActionModel
    card: PolicyCard

    @property
    def config(self) -> ModelConfig:
        return self.model.config


def save_checkpoint(model: VideoActionModel, card: PolicyCard, folder: Path) -> None:
    """Write the three files; the folder is made if missing."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).write_text(model.config.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (folder / CARD).write_text(card.model_dump_json(indent=2) + "\n", encoding="utf-8")
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    save_file(state, str(folder / WEIGHTS))


def load_checkpoint(folder: Path) -> Checkpoint:
    """The model in evaluation mode and its card. Raises `BundleError` naming the file at fault."""
    config = _parse(folder / CONFIG, ModelConfig)
    card = _parse(folder / CARD, PolicyCard)
    model = VideoActionModel(config)
    weights = _read_weights(folder / WEIGHTS)
    _require_fit(folder / WEIGHTS, model.state_dict(), weights)
    model.load_state_dict(weights)
    return Checkpoint(model.eval(), card)


def _require_fit(path: Path, own: Mapping[str, Tensor], given: Mapping[str, Tensor]) -> None:
    """Names the first tensor that the sizes in config.json and the weights disagree on."""
    for name in sorted(own.keys() | given.keys()):
        wanted, got = (tuple(side[name].shape) if name in side else "none" for side in (own, given))
        if wanted != got:
            raise BundleError(
                f"{path}: {name}", expected=wanted, got=got, remedy=f"use the {CONFIG} saved with these weights"
            )


def _read_weights(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(str(path))
    except (OSError, SafetensorError) as error:
        raise BundleError(
            f"{path}", expected="safetensors", got=str(error), remedy="copy the checkpoint again"
        ) from error


def _parse(path: Path, kind: type[Parsed]) -> Parsed:
    try:
        return kind.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BundleError(
            f"{path}", expected="a file", got=error.strerror, remedy="check the checkpoint folder"
        ) from error
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in fault["loc"])
        raise BundleError(f"{path}: {key}", expected=fault["msg"], got=repr(fault.get("input"))[:100]) from error
