"""EngineRecord: what a set of engines was built from, with what and for what. It lies beside them as `engines.json`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from contract.errors import BundleError
from contract.server_info import Row, Strict
from policy_server.compiled.branches import Branches
from policy_server.compiled.target import Compiler

RECORD: Literal["engines.json"] = "engines.json"
Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Binding(Strict):
    """One input or output of an engine; -1 in `shape` is the axis of branches."""

    name: str
    dtype: str
    shape: Annotated[tuple[int, ...], Row]


class GraphEngine(Strict):
    """One engine file."""

    source_sha256: Sha
    """Of the ONNX file and every file of weights that it names (`sources.source_sha256`)."""
    engine_sha256: Sha
    size_bytes: Annotated[int, Field(ge=1)]
    build_s: float
    inputs: tuple[Binding, ...]
    outputs: tuple[Binding, ...]


class Acceptance(Strict):
    """What `yam-policy verify` found, on the card that the engines are for."""

    passed: bool
    reference: str
    observations: Annotated[int, Field(ge=1)]
    worst_row: float
    """Largest difference of a de-normalised row: rad, or share of the gripper's opening."""
    worst_tr: float
    """Largest relative difference of TR."""
    said: str


class EngineRecord(Strict):
    """The whole of `engines.json`."""

    format: Literal[1] = 1
    model_id: str
    weights_hash: Sha
    precision: Literal["fp32", "fp16", "bf16"]
    compiler: Compiler
    compiler_version: str
    card: str
    """Compute capability that the engines run on, for example sm120."""
    branches: Branches
    driver: str = ""
    """CUDA driver seen while building; empty where there was none."""
    graphs: Annotated[dict[str, GraphEngine], Field(min_length=1)]
    acceptance: Acceptance | None = None


def read_record(folder: Path, rebuild: str) -> EngineRecord:
    """The record of a folder of engines. Raises `BundleError` with the command that builds them."""
    path = folder / RECORD
    if not path.is_file():
        raise BundleError(f"{path}", expected="the record of the engines", got="none", remedy=rebuild)
    try:
        return EngineRecord.model_validate_json(path.read_text(encoding="utf-8"))
    except (ValidationError, UnicodeDecodeError) as error:
        first = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else {"msg": str(error)}
        where = ".".join(str(part) for part in first.get("loc", ())) or "the whole file"
        raise BundleError(f"{path}, {where}", expected=first["msg"], remedy=rebuild) from error


def write_record(folder: Path, record: EngineRecord) -> None:
    """Write it in one step: a reader sees the old record or the new one."""
    scratch = folder / f".{RECORD}.{os.getpid()}"
    scratch.write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")
    os.replace(scratch, folder / RECORD)
