"""`yam-policy build`: the graphs of a bundle to engines for one card."""

from __future__ import annotations

import sys
from pathlib import Path

from contract.errors import ConfigurationError
from policy_server.bundle import load_bundle
from policy_server.compiled.branches import Branches
from policy_server.compiled.build import build_engines, engines_folder
from policy_server.compiled.cache import EngineCache, default_cache
from policy_server.compiled.target import parse_target


def build(folder: Path, target: str, out: Path | None, most_branches: int, cache: Path | None) -> None:
    """Build, with progress. Raises `ConfigurationError`, `BundleError` or `EngineError` in one line."""
    bundle = load_bundle(folder)
    if target == "ort":
        from policy_server.engines.onnxruntime_engine import OnnxRuntimeEngine

        engine = OnnxRuntimeEngine.load(bundle)
        print(f"{folder}: {', '.join(engine.graphs)} open on {engine.runs_on}; ONNX Runtime compiles when it serves")
        engine.close()
        return
    from policy_server.engines.tensorrt_compiler import TensorRtCompiler

    if not 1 <= most_branches <= 3:
        raise ConfigurationError("--most-branches", expected="1 to 3", got=most_branches, remedy="there are no more")
    wanted = parse_target(target)
    compiler = TensorRtCompiler(wanted)
    place = out or engines_folder(bundle.folder, wanted.folder)
    place.parent.mkdir(parents=True, exist_ok=True)
    branches = Branches(usual=most_branches, most=most_branches)
    kept = default_cache() if cache is None else EngineCache(cache)
    print(
        f"{bundle.manifest.model_id}, {bundle.manifest.precision}: {compiler.name} {compiler.version}, {compiler.card}"
    )
    try:
        record = build_engines(bundle, compiler, branches, place, kept, lambda line: print(line, flush=True))
    except KeyboardInterrupt:
        # Not 0: whoever waits for engines has none.
        print(f"stopped; {place} is as it was, and the graphs that were finished are in {kept.folder}")
        sys.exit(130)
    size = sum(facts.size_bytes for facts in record.graphs.values())
    print(f"{place}: {len(record.graphs)} engines, {size / 1e6:.1f} MB")
    print(f"not accepted yet: on the card, run `yam-policy verify {folder} --engine {compiler.name} --engines {place}`")
