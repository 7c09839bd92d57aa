"""Whether a folder of engines may be served: by this machine, for this bundle, unaltered. One line when it may not."""

from __future__ import annotations

from pathlib import Path

from contract.errors import BundleError, EngineError
from policy_server.bundle import Bundle, file_sha256
from policy_server.compiled.machine import Machine
from policy_server.compiled.record import EngineRecord, read_record
from policy_server.compiled.sources import graph_names, source_sha256
from policy_server.compiled.target import Target

ONNX_FIRST_BYTE = b"\x08"
"""An ONNX file begins with field 1 (ir_version) as a varint."""


def servable_record(folder: Path, bundle: Bundle, machine: Machine, target: Target) -> EngineRecord:
    """The record of `folder`, every fact in it checked (B43).

    Raises `EngineError` for a machine that cannot run the engines, `BundleError` for engines that are not this
    bundle's, altered, cut short, missing or not accepted. Nothing is loaded before all of it holds.
    """
    rebuild = f"run: yam-policy build {bundle.folder} --target {target} --out {folder}"
    record = read_record(folder, rebuild)
    _require_machine(record, machine, rebuild)
    _require_bundle(record, bundle, folder, rebuild)
    for graph, facts in record.graphs.items():
        _require_engine(folder / f"{graph}.engine", facts.engine_sha256, facts.size_bytes, rebuild)
    return record


def require_accepted(record: EngineRecord, folder: Path, bundle: Bundle) -> None:
    """Raises `BundleError` unless `yam-policy verify` passed with these very engines on this kind of card."""
    check = f"run: yam-policy verify {bundle.folder} --engines {folder}"
    if record.acceptance is None:
        raise BundleError(f"engines {folder}", expected="accepted engines", got="never verified", remedy=check)
    if not record.acceptance.passed:
        raise BundleError(
            f"engines {folder}", expected="accepted engines", got=record.acceptance.said, remedy="build in fp32 or bf16"
        )


def _require_machine(record: EngineRecord, machine: Machine, rebuild: str) -> None:
    facts = (
        ("compiler of the engines", record.compiler, machine.compiler),
        ("compiler version of the engines", record.compiler_version, machine.compiler_version),
        ("card of the engines", record.card, machine.card or "no NVIDIA card"),
    )
    for what, built, here in facts:
        if built != here:
            raise EngineError(what, expected=here, got=built, remedy=rebuild)


def _require_bundle(record: EngineRecord, bundle: Bundle, folder: Path, rebuild: str) -> None:
    """The bundle's own hashes were checked when it was loaded; here the engines are compared with it."""
    if record.precision != bundle.manifest.precision:
        raise BundleError(
            f"precision of {folder}", expected=bundle.manifest.precision, got=record.precision, remedy=rebuild
        )
    names = graph_names(bundle)
    if set(names) != set(record.graphs):
        raise BundleError(
            f"graphs of {folder}", expected=", ".join(names), got=", ".join(record.graphs), remedy=rebuild
        )
    for graph in names:
        source = source_sha256(bundle, graph)
        if source != record.graphs[graph].source_sha256:
            raise BundleError(
                f"source of {folder / graph}.engine",
                expected=f"{graph}.onnx {source[:12]}",
                got=f"built from {record.graphs[graph].source_sha256[:12]}, another {graph}.onnx",
                remedy=rebuild,
            )


def _require_engine(path: Path, sha256: str, size_bytes: int, rebuild: str) -> None:
    if not path.is_file():
        raise BundleError(f"{path}", expected="the engine that was built", got="no file", remedy=rebuild)
    size = path.stat().st_size
    if size == size_bytes and file_sha256(path) == sha256:
        return
    with path.open("rb") as stream:
        onnx = stream.read(1) == ONNX_FIRST_BYTE
    got = f"{size} bytes of an ONNX file" if onnx else f"{size} bytes, altered or cut short"
    raise BundleError(f"{path}", expected=f"the engine that was built, {size_bytes} bytes", got=got, remedy=rebuild)
