"""TensorRtCompiler: ONNX to engine, with TensorRT-RTX also where there is no card."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from types import ModuleType
from typing import Any

from contract.errors import EngineError
from policy_server.compiled.branches import Branches
from policy_server.compiled.compiler import Compiled, Progress
from policy_server.compiled.record import Binding
from policy_server.compiled.target import CURRENT, Target
from policy_server.engines.tensorrt_api import cuda_driver, current_card, tensorrt_module
from policy_server.engines.tensorrt_log import build_log
from policy_server.engines.tensorrt_progress import build_progress, interrupt_noted


class TensorRtCompiler:
    """`GraphCompiler` for one target. Precision is the graph's own: both libraries build strongly typed here."""

    def __init__(self, target: Target) -> None:
        self._api: ModuleType = tensorrt_module(target.compiler)
        self.name = target.compiler
        self.version: str = self._api.__version__
        self.driver = cuda_driver()
        self.card = _card(target)
        self._named = target.card != CURRENT

    def compile(self, graph: Path, branches: Branches, progress: Progress) -> Compiled:
        """The engine of one ONNX file. Raises `EngineError` with the library's own words."""
        with interrupt_noted() as interrupted:
            return self._compile(graph, branches, progress, interrupted)

    def _compile(self, graph: Path, branches: Branches, progress: Progress, interrupted: Event) -> Compiled:
        api, log = self._api, build_log(self._api, progress)
        builder = api.Builder(log)
        flags = 0 if self.name == "tensorrt_rtx" else 1 << int(api.NetworkDefinitionCreationFlag.STRONGLY_TYPED)
        network = builder.create_network(flags)
        parser = api.OnnxParser(network, log)
        if not parser.parse_from_file(str(graph)):
            raise _failure(graph, "parse", [parser.get_error(i).desc() for i in range(parser.num_errors)])
        config = builder.create_builder_config()
        self._aim(config)
        inputs = _bindings(api, [network.get_input(i) for i in range(network.num_inputs)])
        outputs = _bindings(api, [network.get_output(i) for i in range(network.num_outputs)])
        _set_profile(builder, config, inputs, branches)
        config.progress_monitor = build_progress(api, graph.stem, progress, interrupted)
        engine = builder.build_serialized_network(network, config)
        if engine is None:
            raise _failure(graph, "build", log.errors)
        return Compiled(bytes(engine), inputs, outputs)

    def _aim(self, config: Any) -> None:
        """A card named ahead of time; the card in this machine needs no naming."""
        if self._named:
            config.num_compute_capabilities = 1
            config.set_compute_capability(getattr(self._api.ComputeCapability, self.card.upper()), 0)


def _card(target: Target) -> str:
    if target.card != CURRENT:
        return target.card
    card, _ = current_card()
    if not card:
        raise EngineError(
            f"target {target}",
            expected="an NVIDIA card and its driver in this machine",
            got="none",
            remedy="name the card, for example --target rtx:sm120, or build where the card is",
        )
    return card


def _bindings(api: ModuleType, tensors: list[Any]) -> tuple[Binding, ...]:
    return tuple(Binding(name=t.name, dtype=api.nptype(t.dtype).__name__, shape=tuple(t.shape)) for t in tensors)


def _set_profile(builder: Any, config: Any, inputs: tuple[Binding, ...], branches: Branches) -> None:
    """One profile over all free axes; a graph without one (encode, decode) needs none."""
    if all(size >= 0 for binding in inputs for size in binding.shape):
        return
    profile = builder.create_optimization_profile()
    for binding in inputs:
        profile.set_shape(binding.name, *branches.shapes(binding.shape))
    config.add_optimization_profile(profile)


def _failure(graph: Path, step: str, errors: list[str]) -> EngineError:
    said = " | ".join(" ".join(error.split()) for error in errors)[:800] or "nothing"
    return EngineError(
        f"{step} of {graph.name}", expected="an engine", got=said, remedy="export the bundle again with this version"
    )
