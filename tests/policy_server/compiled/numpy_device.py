"""A card made of numpy: buffers by name, launches recorded, so that the executable's logic runs without one."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contract.errors import EngineError


class NumpyDevice:
    """`Device`; `log` says in order what was asked of it."""

    stream = 7

    def __init__(self, room_bytes: int = 1 << 20) -> None:
        self.buffers: dict[str, NDArray[np.uint8]] = {}
        self.log: list[str] = []
        self._room = room_bytes
        self._capturing = False

    def allocate(self, name: str, size_bytes: int) -> int:
        if sum(each.nbytes for each in self.buffers.values()) + size_bytes > self._room:
            raise EngineError(f"CUDA, {size_bytes} bytes for {name}", got="cudaErrorMemoryAllocation")
        self.buffers[name] = np.zeros(size_bytes, np.uint8)
        return 1000 + len(self.buffers)

    def upload(self, name: str, array: NDArray) -> None:
        self.buffers[name][: array.nbytes] = array.view(np.uint8).reshape(-1)
        self.log.append("up")

    def download(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray:
        self.log.append("down")
        return self.buffers[name][: int(np.prod(shape)) * dtype.itemsize].view(dtype).reshape(shape)

    def capture(self, launch: Callable[[], None]) -> Any:
        """What is captured is not run, as on a card."""
        self.log.append("capture")
        self._capturing = True
        launch()
        self._capturing = False
        return launch

    def replay(self, captured: Any) -> None:
        self.log.append("replay")
        captured()

    def launched(self, work: Callable[[], None]) -> None:
        """Called by the fake context: runs at once unless it is being captured."""
        if not self._capturing:
            self.log.append("run")
            work()

    def synchronise(self) -> None:
        self.log.append("wait")

    def free(self, name: str) -> None:
        self.buffers.pop(name, None)

    def close(self) -> None:
        self.buffers.clear()


API = SimpleNamespace(TensorIOMode=SimpleNamespace(INPUT="in", OUTPUT="out"), nptype=lambda dtype: dtype)


class DoublingEngine:
    """y = 2 x for x of shape (branches, 3), at most 3 branches, as a deserialised engine and its context look."""

    num_io_tensors = 2

    def __init__(self, device: NumpyDevice, refuse: bool = False) -> None:
        self._device, self._refuse = device, refuse
        self._shape = (3, 3)

    def create_execution_context(self) -> DoublingEngine:
        return self

    def get_tensor_name(self, i: int) -> str:
        return ("x", "y")[i]

    def get_tensor_mode(self, name: str) -> str:
        return "in" if name == "x" else "out"

    def get_tensor_dtype(self, name: str) -> type:
        return np.float32

    def get_tensor_profile_shape(self, name: str, profile: int) -> tuple[tuple[int, ...], ...]:
        return (1, 3), (3, 3), (3, 3)

    def set_input_shape(self, name: str, shape: tuple[int, ...]) -> bool:
        if shape[0] > 3 or shape[1:] != (3,):
            return False
        self._shape = tuple(shape)
        return True

    def get_tensor_shape(self, name: str) -> tuple[int, ...]:
        return self._shape

    def set_tensor_address(self, name: str, address: int) -> bool:
        return address > 0

    def execute_async_v3(self, stream: int) -> bool:
        rows, buffers = self._shape[0], self._device.buffers

        def work() -> None:
            x = buffers["double.x"][: rows * 12].view(np.float32)
            buffers["double.y"][: rows * 12] = (2 * x).view(np.uint8)

        self._device.launched(work)
        return not self._refuse
