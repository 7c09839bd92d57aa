"""ONNX Runtime: one session for each graph of a bundle, on the provider asked for and on no other."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

import onnxruntime as ort
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as failures

from contract.errors import BundleError, EngineError
from policy_server.bundle import Bundle
from policy_server.engines.base import GRAPHS
from policy_server.engines.onnx_files import external_locations

CPU: Final = "CPUExecutionProvider"
CUDA: Final = "CUDAExecutionProvider"
_FAILURES: Final = (
    failures.EPFail,
    failures.Fail,
    failures.InvalidArgument,
    failures.InvalidGraph,
    failures.InvalidProtobuf,
    failures.NoSuchFile,
    failures.NotImplemented,
    failures.RuntimeException,
    RuntimeError,
    ValueError,
)
"""What ONNX Runtime raises; it has no common base of its own."""


class OnnxRuntimeEngine:
    """`Engine` over sessions that are already open; `load` opens them."""

    def __init__(self, sessions: Mapping[str, ort.InferenceSession], bundle: Bundle, optimised: bool = True) -> None:
        self._sessions = dict(sessions)
        self._inputs = {name: tuple(i.name for i in session.get_inputs()) for name, session in sessions.items()}
        self._outputs = {name: tuple(o.name for o in session.get_outputs()) for name, session in sessions.items()}
        provider = _provider_of(sessions)
        device = provider.removesuffix("ExecutionProvider").lower()
        version = ".".join(ort.__version__.split(".")[:2])
        how = device if optimised else f"{device}-unoptimised"
        self.id = f"onnxruntime-{version}-{how}/{bundle.manifest.precision}/{bundle.manifest.weights_hash[:12]}"
        self.runs_on = f"ONNX Runtime {ort.__version__}, {provider}, {platform.machine()}, {_threads_of(sessions)}"

    @classmethod
    def load(cls, bundle: Bundle, threads: int = 0, provider: str = CPU, optimised: bool = True) -> OnnxRuntimeEngine:
        """Open every graph of a checked bundle. `threads` within one operator, 0 = one for each core.

        Without `optimised` every node is run as it is written, none fused or folded: slower, for comparisons.

        Raises `EngineError` when the provider is not there or ONNX Runtime would run on another one, and
        `BundleError` when a graph is broken or its weights lie in a file that the manifest does not list (B45).
        """
        if provider not in ort.get_available_providers():
            raise EngineError(
                "ONNX Runtime provider",
                expected=f"one of {ort.get_available_providers()}",
                got=provider,
                remedy="install the build of onnxruntime that has it, or ask for another",
            )
        names = [graph for graph in GRAPHS if f"{graph}.onnx" in bundle.manifest.files]
        options = _options(threads, optimised)
        return cls({name: _open(bundle, f"{name}.onnx", options, provider) for name in names}, bundle, optimised)

    @property
    def graphs(self) -> tuple[str, ...]:
        """Names of the graphs."""
        return tuple(self._sessions)

    def inputs(self, graph: str) -> tuple[str, ...]:
        """Input names of one graph."""
        return self._inputs[graph]

    def outputs(self, graph: str) -> tuple[str, ...]:
        """Output names of one graph."""
        return self._outputs[graph]

    def run(self, graph: str, feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Outputs by name. Raises `EngineError` with ONNX Runtime's own words for a wrong shape, dtype or name."""
        if graph not in self._sessions:
            raise EngineError("graph", expected=", ".join(self._sessions) or "an open engine", got=graph)
        try:
            values = self._sessions[graph].run(self._outputs[graph], dict(feeds))
        except _FAILURES as error:
            raise EngineError(
                f"graph {graph}", got=_one_line(error), remedy="the inputs are not what the graph was exported for"
            ) from error
        return dict(zip(self._outputs[graph], values, strict=True))

    def close(self) -> None:
        """Give up the sessions and their memory."""
        self._sessions.clear()


def _open(bundle: Bundle, name: str, options: ort.SessionOptions, provider: str) -> ort.InferenceSession:
    path = bundle.path(name)
    for location in external_locations(path):
        _require_listed(bundle, name, location)
    try:
        session = ort.InferenceSession(str(path), options, providers=[provider])
    except _FAILURES as error:
        raise BundleError(f"{path}", got=_one_line(error), remedy="export the bundle again") from error
    if session.get_providers()[0] != provider:
        raise EngineError(
            f"graph {name}", expected=provider, got=session.get_providers(), remedy="repair the driver or ask for CPU"
        )
    return session


def _require_listed(bundle: Bundle, name: str, location: str) -> None:
    """Weights outside the manifest are not covered by its hashes: they may be any other model's."""
    listed = str(PurePosixPath(name).parent / location)
    if location.startswith("/") or ".." in PurePosixPath(location).parts or listed not in bundle.manifest.files:
        raise BundleError(
            f"weights of {bundle.folder / name}",
            expected=f"a file listed in policy.toml: {sorted(bundle.manifest.files)}",
            got=repr(location),
            remedy="export the bundle again",
        )


def _options(threads: int, optimised: bool) -> ort.SessionOptions:
    """Graphs are small and run one after another, so only one operator at a time uses threads, and none spins idle."""
    if threads < 0:
        raise EngineError("threads", expected="0 or more", got=threads, remedy="0 lets ONNX Runtime choose")
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def _provider_of(sessions: Mapping[str, ort.InferenceSession]) -> str:
    used = sorted({session.get_providers()[0] for session in sessions.values()})
    return "+".join(used) if used else "none"


def _threads_of(sessions: Mapping[str, ort.InferenceSession]) -> str:
    counts = {session.get_session_options().intra_op_num_threads for session in sessions.values()}
    said = {0: "a thread for each core", 1: "1 thread"}
    return ", ".join(said.get(n, f"{n} threads") for n in sorted(counts)) or "no graphs"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
