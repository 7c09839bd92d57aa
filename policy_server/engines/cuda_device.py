"""CudaDevice: memory and one stream of the first card, through NVIDIA's own cuda.bindings.

Not run on a card yet; the arithmetic around it is tested with a device of numpy arrays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contract.errors import EngineError


def open_cuda() -> CudaDevice:
    """The first card. Raises `EngineError` where `cuda-bindings` or the card are missing."""
    try:
        from cuda.bindings import runtime
    except ImportError as error:
        raise EngineError(
            "cuda.bindings", expected="installed", got=error, remedy="pip install 'yam-video-action[cuda]'"
        ) from error
    return CudaDevice(runtime)


class CudaDevice:
    """`Device` over the CUDA runtime."""

    def __init__(self, runtime: ModuleType) -> None:
        self._cuda = runtime
        self._buffers: dict[str, int] = {}
        self._pinned: dict[str, tuple[int, NDArray[np.uint8]]] = {}
        self.stream: int = int(self._ask("stream", runtime.cudaStreamCreate()))

    def allocate(self, name: str, size_bytes: int) -> int:
        """A device buffer and its pinned twin."""
        self._buffers[name] = int(self._ask(f"{size_bytes} bytes for {name}", self._cuda.cudaMalloc(size_bytes)))
        host = int(self._ask(f"pinned {name}", self._cuda.cudaMallocHost(size_bytes)))
        self._pinned[name] = host, _view(host, size_bytes)
        return self._buffers[name]

    def upload(self, name: str, array: NDArray) -> None:
        """Through the pinned twin, so that the copy does not wait."""
        host, view = self._pinned[name]
        view[: array.nbytes] = array.view(np.uint8).reshape(-1)
        kind = self._cuda.cudaMemcpyKind.cudaMemcpyHostToDevice
        self._ask(name, self._cuda.cudaMemcpyAsync(self._buffers[name], host, array.nbytes, kind, self.stream))

    def download(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray:
        """A view of the pinned twin: valid from `synchronise` until the next copy into it."""
        host, view = self._pinned[name]
        size = int(np.prod(shape)) * dtype.itemsize
        kind = self._cuda.cudaMemcpyKind.cudaMemcpyDeviceToHost
        self._ask(name, self._cuda.cudaMemcpyAsync(host, self._buffers[name], size, kind, self.stream))
        return view[:size].view(dtype).reshape(shape)

    def capture(self, launch: Callable[[], None]) -> Any:
        """A CUDA graph of what `launch` puts on the stream."""
        mode = self._cuda.cudaStreamCaptureMode.cudaStreamCaptureModeThreadLocal
        self._ask("capture", self._cuda.cudaStreamBeginCapture(self.stream, mode))
        launch()
        graph = self._ask("capture", self._cuda.cudaStreamEndCapture(self.stream))
        return self._ask("CUDA graph", self._cuda.cudaGraphInstantiate(graph, 0))

    def replay(self, captured: Any) -> None:
        """Launch the graph."""
        self._ask("launch", self._cuda.cudaGraphLaunch(captured, self.stream))

    def synchronise(self) -> None:
        """Wait for the stream."""
        self._ask("the run", self._cuda.cudaStreamSynchronize(self.stream))

    def free(self, name: str) -> None:
        """Give both buffers back."""
        if name in self._buffers:
            self._ask(name, self._cuda.cudaFree(self._buffers.pop(name)))
            self._ask(name, self._cuda.cudaFreeHost(self._pinned.pop(name)[0]))

    def close(self) -> None:
        """Give everything back."""
        for name in tuple(self._buffers):
            self.free(name)
        self._ask("stream", self._cuda.cudaStreamDestroy(self.stream))

    def _ask(self, what: str, answer: tuple[Any, ...]) -> Any:
        """Value of a CUDA call; raises `EngineError` with the name of its error."""
        code, *values = answer
        if int(code):
            raise EngineError(
                f"CUDA, {what}", expected="success", got=getattr(code, "name", code), remedy="see nvidia-smi"
            )
        return values[0] if values else None


def _view(address: int, size_bytes: int) -> NDArray[np.uint8]:
    return np.ctypeslib.as_array((ctypes.c_uint8 * size_bytes).from_address(address))
