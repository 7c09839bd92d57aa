"""`yam-policy verify`: whether an engine answers as the fp32 reference does."""

from __future__ import annotations

from pathlib import Path

from contract.errors import BundleError, EngineError
from policy_server.bundle import CHECKPOINT_FOLDER, Bundle, load_bundle
from policy_server.compiled.record import Acceptance, write_record
from policy_server.compiled.target import COMPILERS
from policy_server.engines.base import Engine
from policy_server.engines.compiled_engine import CompiledEngine
from policy_server.engines.loading import built_for, load_compiled, load_engine
from policy_server.policy import Policy
from policy_server.verify.acceptance import accept
from policy_server.verify.observations import questions
from policy_server.verify.recorded import recorded


def verify(folder: Path, name: str, engines: Path | None, reference: Path | None, episode: Path | None = None) -> None:
    """Print the verdict and keep it beside compiled engines. Raises `EngineError` when it is bad."""
    bundle = load_bundle(folder)
    other = _reference(name, bundle, reference)
    engine = _examined(name, bundle, engines)
    real = () if episode is None else recorded(episode, Policy(bundle.manifest, engine).info("READY"))
    asked = (*questions(bundle.manifest), *real)
    print(f"{engine.id} on {engine.runs_on}\nagainst {other.id} on {other.runs_on}")
    print(f"{len(asked)} observations, {len(real)} of them recorded")
    found = accept(bundle.manifest, engine, other, asked, print)
    print(f"largest difference: rows {found.worst_row:.2g} rad, TR {found.worst_tr:.2g} of its value")
    if isinstance(engine, CompiledEngine):
        place = engines or built_for(bundle.folder, engine.record.compiler, engine.record.card)
        write_record(place, engine.record.model_copy(update={"acceptance": found}))
    raise_unless_passed(found, engine)
    print("accepted")


def _reference(name: str, bundle: Bundle, reference: Path | None) -> Engine:
    """ONNX Runtime in fp32. Where that is examined: torch, or without a checkpoint the graphs exactly as written."""
    with_fp32 = reference_bundle(bundle, reference)
    if name != "onnxruntime" or with_fp32 is not bundle:
        return load_engine("onnxruntime", with_fp32)
    if (bundle.folder / CHECKPOINT_FOLDER).is_dir():
        return load_engine("torch", bundle)
    from policy_server.engines.onnxruntime_engine import OnnxRuntimeEngine

    return OnnxRuntimeEngine.load(bundle, optimised=False)


def reference_bundle(bundle: Bundle, reference: Path | None) -> Bundle:
    """The fp32 bundle to compare with. Raises `BundleError` when there is none, or one of other sizes."""
    other = bundle if reference is None else load_bundle(reference)
    if other.manifest.precision != "fp32":
        raise BundleError(
            "reference",
            expected="a bundle in fp32",
            got=f"{other.folder} in {other.manifest.precision}",
            remedy="export the same checkpoint with --precision fp32 and give it as --reference",
        )
    shapes = ("canvas", "video", "text", "head", "state", "action")
    unlike = [name for name in shapes if getattr(other.manifest, name) != getattr(bundle.manifest, name)]
    if unlike:
        raise BundleError(
            f"reference {other.folder}",
            expected=f"the checkpoint of {bundle.folder}",
            got=f"another [{unlike[0]}] in its policy.toml",
            remedy="export both from one checkpoint",
        )
    return other


def raise_unless_passed(found: Acceptance, engine: Engine) -> None:
    """Raises `EngineError` with the verdict when it is bad."""
    if not found.passed:
        raise EngineError(
            f"{engine.id}", expected=f"the answers of {found.reference}", got=found.said, remedy="use bf16 or fp32"
        )


def _examined(name: str, bundle: Bundle, engines: Path | None) -> Engine:
    compiler = next((one for one in COMPILERS.values() if one == name), None)
    if compiler is None:
        return load_engine(name, bundle)
    return load_compiled(compiler, bundle, engines, accepted=False)
