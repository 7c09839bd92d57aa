"""The floor of `bench wire`: images copied once on each side, the same bytes to a bare echo and back, nothing else."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import numpy as np
import zmq
from numpy.typing import NDArray

from contract.errors import LinkTimeoutError
from policy_server.bench.echo_server import REUSE, SET_REPLY

SCENES: Final = 12
"""Different sets of images that take turns, so that sources are no warmer in the cache than a camera's."""
_SLOTS: Final = 4
"""Sets of kept buffers that take turns; libzmq may still hold the previous one."""
_TIMEOUT_MS: Final = 5000


class Floor:
    """A bare DEALER in a plain process: no setting of the C library, no option of the socket."""

    def __init__(
        self, address: str, request_sizes: Sequence[int], reply_sizes: Sequence[int], image_bytes: int
    ) -> None:
        self._socket: zmq.Socket = zmq.Context.instance().socket(zmq.DEALER)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.connect(address)
        self._small = [bytes(size) for size in request_sizes if size != image_bytes]
        count = len(request_sizes) - len(self._small)
        rng = np.random.default_rng(0)
        self._scenes = [[rng.integers(0, 256, image_bytes, np.uint8) for _ in range(count)] for _ in range(SCENES)]
        self._slots = [[np.empty(image_bytes, np.uint8) for _ in range(count)] for _ in range(_SLOTS)]
        self._round([SET_REPLY, *(bytes(size) for size in reply_sizes)])

    def echo(self, number: int) -> int:
        """Time of one round [ns], both sides copying into new arrays."""
        begin_ns = time.perf_counter_ns()
        images = self._scenes[number % SCENES]
        self._copy_and_send(b"new", [np.empty_like(image) for image in images], images)
        return time.perf_counter_ns() - begin_ns

    def echo_reusing(self, number: int) -> int:
        """Time of one round [ns], both sides copying into arrays that they keep."""
        begin_ns = time.perf_counter_ns()
        self._copy_and_send(REUSE, self._slots[number % _SLOTS], self._scenes[number % SCENES])
        return time.perf_counter_ns() - begin_ns

    def close(self) -> None:
        """Give the socket back."""
        self._socket.close()

    def _copy_and_send(self, kind: bytes, targets: Sequence[NDArray], images: Sequence[NDArray]) -> None:
        for target, image in zip(targets, images, strict=True):
            np.copyto(target, image)
        self._round([kind, *self._small, *(target.data for target in targets)])

    def _round(self, frames: Sequence[bytes | memoryview]) -> None:
        self._socket.send_multipart(list(frames), copy=False)
        if not self._socket.poll(_TIMEOUT_MS):
            raise LinkTimeoutError("echo server", expected="an answer", got="none", remedy="run the benchmark again")
        self._socket.recv_multipart(copy=False)
