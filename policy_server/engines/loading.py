"""Engines by name. Each library is imported only when its engine is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from contract.errors import EngineError
from policy_server.bundle import Bundle
from policy_server.compiled.build import engines_folder
from policy_server.compiled.servable import require_accepted
from policy_server.compiled.target import COMPILERS, Compiler
from policy_server.engines.base import Engine

EngineName = Literal["onnxruntime", "onnxruntime_cuda", "torch", "torch_cuda", "tensorrt_rtx", "tensorrt"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)


def load_engine(name: str, bundle: Bundle, threads: int = 0, engines: Path | None = None) -> Engine:
    """The engine `name` with the bundle's graphs; `engines` is the folder of compiled ones, if not the usual one.

    Raises `EngineError` when it is unknown or cannot run here, `BundleError` for engines that may not be served.
    """
    if name in ("onnxruntime", "onnxruntime_cuda"):
        from policy_server.engines.onnxruntime_engine import CPU, CUDA, OnnxRuntimeEngine

        return OnnxRuntimeEngine.load(bundle, threads, CPU if name == "onnxruntime" else CUDA)
    if name == "torch":
        from policy_server.engines.torch_engine import TorchEngine

        return TorchEngine.load(bundle.folder)
    if name == "torch_cuda":
        from policy_server.engines.torch_captured import CapturedTorchEngine

        return CapturedTorchEngine.load(bundle)
    if name == "tensorrt_rtx":
        return load_compiled("tensorrt_rtx", bundle, engines)
    if name == "tensorrt":
        return load_compiled("tensorrt", bundle, engines)
    raise EngineError("engine", expected=", ".join(ENGINES), got=name, remedy="choose one of those")


def load_compiled(compiler: Compiler, bundle: Bundle, engines: Path | None, accepted: bool = True) -> Engine:
    """Compiled engines on the card of this machine; `accepted` asks that `yam-policy verify` passed with them."""
    from policy_server.engines.compiled_engine import CompiledEngine
    from policy_server.engines.cuda_device import open_cuda
    from policy_server.engines.tensorrt_api import current_card
    from policy_server.engines.tensorrt_runtime import TensorRtRuntime

    card, _ = current_card()
    if not card:
        raise EngineError(
            f"engine {compiler}",
            expected="an NVIDIA card and its driver",
            got="none",
            remedy="use --engine onnxruntime",
        )
    folder = engines or built_for(bundle.folder, compiler, card)
    engine = CompiledEngine.load(TensorRtRuntime(compiler, open_cuda()), bundle, folder, compiler)
    if accepted:
        require_accepted(engine.record, folder, bundle)
    return engine


def built_for(bundle: Path, compiler: Compiler, card: str) -> Path:
    """Folder of the engines built for this card: ahead of time under its name, or here under `current`."""
    short = next(key for key, value in COMPILERS.items() if value == compiler)
    named = engines_folder(bundle, f"{short}-{card}")
    return named if named.is_dir() else engines_folder(bundle, f"{short}-current")
