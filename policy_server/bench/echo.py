"""The same bytes as a replan's, through a bare DEALER and a bare echo."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import numpy as np
import zmq

from contract.errors import LinkTimeoutError
from policy_server.bench.echo_server import SET_REPLY

_SETS: Final = 4
"""Sets of frames that take turns; libzmq may still hold the previous one."""
_TIMEOUT_MS: Final = 5000


class Echo:
    """Times echoes of a request of given frame sizes, answered by a reply of given frame sizes."""

    def __init__(self, address: str, request_sizes: Sequence[int], reply_sizes: Sequence[int]) -> None:
        self._socket: zmq.Socket = zmq.Context.instance().socket(zmq.DEALER)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.connect(address)
        self._requests = [[np.ones(size, np.uint8).data for size in request_sizes] for _ in range(_SETS)]
        self._number = 0
        self._round([SET_REPLY, *(bytes(size) for size in reply_sizes)])

    def sample(self) -> int:
        """Time of one echo, sent and received without copying [ns]."""
        self._number += 1
        begin_ns = time.perf_counter_ns()
        self._round(self._requests[self._number % _SETS])
        return time.perf_counter_ns() - begin_ns

    def close(self) -> None:
        """Give the socket back."""
        self._socket.close()

    def _round(self, frames: Sequence[bytes | memoryview]) -> None:
        self._socket.send_multipart(list(frames), copy=False)
        if not self._socket.poll(_TIMEOUT_MS):
            raise LinkTimeoutError("echo server", expected="an answer", got="none", remedy="run the benchmark again")
        self._socket.recv_multipart(copy=False)
