"""TensorRtRuntime: engines on the card of this machine. Device buffers are fixed and every run is one CUDA graph.

Nothing here has run on a card yet: the tests drive the executable's logic with a device made of numpy arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contract.errors import EngineError
from policy_server.compiled.machine import Machine
from policy_server.compiled.target import Compiler
from policy_server.engines.device import Device
from policy_server.engines.tensorrt_api import cuda_driver, current_card, tensorrt_module


class TensorRtExecutable:
    """One engine and its buffers, sized once for the most branches; a capture for each number of branches."""

    def __init__(self, name: str, engine: Any, api: ModuleType, device: Device) -> None:
        self._name, self._device = name, device
        self._context = engine.create_execution_context()
        names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
        is_input = {each: engine.get_tensor_mode(each) == api.TensorIOMode.INPUT for each in names}
        self.inputs = tuple(each for each in names if is_input[each])
        self.outputs = tuple(each for each in names if not is_input[each])
        self._dtypes = {each: np.dtype(api.nptype(engine.get_tensor_dtype(each))) for each in names}
        self._captures: dict[tuple[int, ...], Any] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        for each in self.inputs:
            most = tuple(engine.get_tensor_profile_shape(each, 0)[2])
            self._allocate(each, most)
            self._require(self._context.set_input_shape(each, most), f"shape {most} of {each}")
        for each in self.outputs:
            self._allocate(each, tuple(self._context.get_tensor_shape(each)))

    def run(self, feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Outputs by name: copies in, one launch, copies out, all on one stream."""
        for name in self.inputs:
            self._feed(name, feeds)
        key = tuple(self._shapes[name][0] for name in self.inputs)
        if key not in self._captures:
            # The first run of a shape sets the context up; only what follows can be captured.
            self._launch()
            self._captures[key] = self._device.capture(self._launch)
        else:
            self._device.replay(self._captures[key])
        views = {name: self._device.download(name_of(self._name, name), *self._out(name)) for name in self.outputs}
        self._device.synchronise()
        # The next run of this graph writes over the views, and a flow loop keeps the outputs of every step.
        return {name: view.copy() for name, view in views.items()}

    def close(self) -> None:
        """Give up captures, context and buffers."""
        self._captures.clear()
        self._context = None
        for name in (*self.inputs, *self.outputs):
            self._device.free(name_of(self._name, name))

    def _feed(self, name: str, feeds: Mapping[str, NDArray]) -> None:
        array = np.ascontiguousarray(feeds[name])
        if array.dtype != self._dtypes[name]:
            raise EngineError(f"input {name} of {self._name}", expected=self._dtypes[name], got=array.dtype)
        if self._shapes.get(name) != array.shape:
            self._require(self._context.set_input_shape(name, array.shape), f"shape {array.shape} of {name}")
            self._shapes[name] = array.shape
        self._device.upload(name_of(self._name, name), array)

    def _launch(self) -> None:
        self._require(self._context.execute_async_v3(self._device.stream), "the run")

    def _out(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        return tuple(self._context.get_tensor_shape(name)), self._dtypes[name]

    def _allocate(self, name: str, shape: tuple[int, ...]) -> None:
        address = self._device.allocate(name_of(self._name, name), int(np.prod(shape)) * self._dtypes[name].itemsize)
        self._require(self._context.set_tensor_address(name, address), f"address of {name}")

    def _require(self, ok: bool, what: str) -> None:
        if not ok:
            raise EngineError(
                f"engine {self._name}", expected=f"{what} accepted", got="refused", remedy="build the engine again"
            )


def name_of(graph: str, tensor: str) -> str:
    """Name of a buffer."""
    return f"{graph}.{tensor}"


class TensorRtRuntime:
    """`Runtime` of one library on the first card."""

    def __init__(self, compiler: Compiler, device: Device) -> None:
        self._api, self._device = tensorrt_module(compiler), device
        self._logger = self._api.Logger(self._api.Logger.WARNING)
        self._runtime = self._api.Runtime(self._logger)
        card, name = current_card()
        self.machine = Machine(compiler, self._api.__version__, card, name, cuda_driver())

    def load(self, name: str, engine: bytes) -> TensorRtExecutable:
        """Raises `EngineError` when the library refuses the bytes."""
        loaded = self._runtime.deserialize_cuda_engine(engine)
        if loaded is None:
            raise EngineError(
                f"engine {name}", expected="an engine of this library", got="refused", remedy="build again"
            )
        return TensorRtExecutable(name, loaded, self._api, self._device)

    def close(self) -> None:
        """Give up the card."""
        self._device.close()
