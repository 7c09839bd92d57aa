"""Engines by name. Each library is imported only when its engine is asked for."""

from __future__ import annotations

from contract.errors import EngineError
from policy_server.bundle import Bundle
from policy_server.engines.base import Engine

ENGINES = ("onnxruntime", "torch")


def load_engine(name: str, bundle: Bundle, threads: int = 0) -> Engine:
    """The engine `name` with the bundle's graphs. Raises `EngineError` when it is unknown or cannot run here."""
    if name == "onnxruntime":
        from policy_server.engines.onnxruntime_engine import OnnxRuntimeEngine

        return OnnxRuntimeEngine.load(bundle, threads)
    if name == "torch":
        from policy_server.engines.torch_engine import TorchEngine

        return TorchEngine.load(bundle.folder)
    raise EngineError("engine", expected=", ".join(ENGINES), got=name, remedy="choose one of those")
