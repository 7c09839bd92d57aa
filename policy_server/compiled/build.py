"""Building the engines of a bundle: every graph, from the cache where it can be, into one folder that appears whole."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from pathlib import Path

from contract.errors import BundleError
from policy_server.bundle import Bundle
from policy_server.compiled.branches import Branches
from policy_server.compiled.cache import EngineCache, Recipe
from policy_server.compiled.compiler import Compiled, GraphCompiler, Progress
from policy_server.compiled.record import RECORD, EngineRecord, GraphEngine, write_record
from policy_server.compiled.sources import graph_names, source_sha256


def engines_folder(bundle: Path, target_folder: str) -> Path:
    """Where a bundle's engines lie unless a person says otherwise: beside the bundle, which stays as it was sealed."""
    return bundle.absolute().with_name(f"{bundle.name}.engines") / target_folder


def build_engines(
    bundle: Bundle, compiler: GraphCompiler, branches: Branches, out: Path, cache: EngineCache, say: Progress
) -> EngineRecord:
    """Write `GRAPH.engine` for every graph and `engines.json` into `out`, which is replaced when all are done.

    An interrupted build leaves `out` as it was, and what was compiled before is in the cache. Raises `EngineError`
    when a graph cannot be compiled and `BundleError` when `out` holds something that is no folder of engines.
    """
    _require_replaceable(out)
    partial = out.with_name(f".{out.name}.partial-{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        record = _build(bundle, compiler, branches, partial, cache, say)
        write_record(partial, record)
        if out.exists():
            shutil.rmtree(out)
        partial.rename(out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return record


def _build(
    bundle: Bundle, compiler: GraphCompiler, branches: Branches, folder: Path, cache: EngineCache, say: Progress
) -> EngineRecord:
    names = graph_names(bundle)
    graphs = {}
    for number, name in enumerate(names, 1):
        say(f"[{number}/{len(names)}] {name}")
        path, facts, known = _engine(bundle, name, compiler, branches, cache, say)
        shutil.copyfile(path, folder / f"{name}.engine")
        how = "from the cache" if known else f"{facts.build_s:.1f} s"
        say(f"[{number}/{len(names)}] {name}: {facts.size_bytes / 1e6:.1f} MB, {how}")
        graphs[name] = facts
    manifest = bundle.manifest
    return EngineRecord(
        model_id=manifest.model_id,
        weights_hash=manifest.weights_hash,
        precision=manifest.precision,
        compiler=compiler.name,
        compiler_version=compiler.version,
        card=compiler.card,
        branches=branches,
        driver=compiler.driver,
        graphs=graphs,
    )


def _engine(
    bundle: Bundle, name: str, compiler: GraphCompiler, branches: Branches, cache: EngineCache, say: Progress
) -> tuple[Path, GraphEngine, bool]:
    """File, facts, and whether it was in the cache."""
    source = source_sha256(bundle, name)
    counts = (branches.least, branches.usual, branches.most)
    recipe = Recipe(source, compiler.name, compiler.version, compiler.card, counts)
    known = cache.get(recipe)
    if known is not None:
        return *known, True
    start_ns = time.monotonic_ns()
    made = compiler.compile(bundle.path(f"{name}.onnx"), branches, say)
    facts = _facts(source, made, (time.monotonic_ns() - start_ns) / 1e9)
    return cache.put(recipe, made.engine, facts), facts, False


def _facts(source: str, made: Compiled, build_s: float) -> GraphEngine:
    return GraphEngine(
        source_sha256=source,
        engine_sha256=hashlib.sha256(made.engine).hexdigest(),
        size_bytes=len(made.engine),
        build_s=round(build_s, 3),
        inputs=made.inputs,
        outputs=made.outputs,
    )


def _require_replaceable(out: Path) -> None:
    """Raises `BundleError` when the folder holds something else: it would be deleted."""
    if out.exists() and not (out.is_dir() and ((out / RECORD).is_file() or not any(out.iterdir()))):
        raise BundleError(
            f"{out}", expected="no folder, an empty one or one of engines", got="something else", remedy="choose --out"
        )
