"""LoRA adapters of the backbone, merged into its weights: what is served is one plain set of weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from peft import PeftModel
from safetensors.torch import load_file

from contract.errors import BundleError
from policy_server.bundle import file_sha256
from policy_server.model.backbone import CosmosBackbone

DIFFUSERS: Final = "pytorch_lora_weights.safetensors"
PEFT: Final = "adapter_model.safetensors"
_PREFIX: Final = "transformer"


def merge_adapter(backbone: CosmosBackbone, folder: Path) -> str:
    """Merge the adapter in `folder`, of peft's or diffusers' layout; "NAME@SHA256[:12]" for the bundle.

    Raises `BundleError` when the folder holds none, or one that does not fit the backbone.
    """
    found = next((folder / name for name in (DIFFUSERS, PEFT) if (folder / name).is_file()), None)
    if found is None:
        raise BundleError(
            f"{folder}", expected=f"{DIFFUSERS} or {PEFT}", got="neither", remedy="name the folder of one adapter"
        )
    try:
        backbone.dit = _merged(backbone.dit, folder, found)
    except (KeyError, ValueError, RuntimeError) as error:
        raise BundleError(
            f"{found}", expected="an adapter of this backbone", got=str(error).splitlines()[0][:200],
            remedy="use the one that was trained on it",
        ) from error  # fmt: skip
    return f"{folder.name}@{file_sha256(found)[:12]}"


def _merged(dit: Any, folder: Path, found: Path) -> Any:
    before = {name: value.clone() for name, value in dit.state_dict().items()}
    if found.name == DIFFUSERS:
        _require_places(load_file(str(found)), set(before))
        dit.load_lora_adapter(load_file(str(found)), prefix=_PREFIX)
        dit.fuse_lora(safe_fusing=True)
        dit.unload_lora()
    else:
        json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
        dit = PeftModel.from_pretrained(dit, str(folder)).merge_and_unload(safe_merge=True)
    after = dit.state_dict()
    if all(after[name].equal(value) for name, value in before.items()):
        raise ValueError("nothing changed: no weight of the adapter has a place in this backbone, or all are zero")
    return dit


def _require_places(adapter: dict[str, Any], weights: set[str]) -> None:
    """diffusers drops what has no place without an error."""
    for name in adapter:
        place = name.removeprefix(f"{_PREFIX}.").split(".lora_")[0]
        if f"{place}.weight" not in weights:
            raise KeyError(f"{name} has no place in this backbone")
