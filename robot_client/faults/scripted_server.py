"""`python -m robot_client.faults.scripted_server`: a policy server without a policy that misbehaves on command.

Prints "READY ADDRESS". Reads one mode a line from standard input and ends with it: sound, slow, nan, stale, swap,
reorder, another. Its rows are those of `robot_client.faults.rows`.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections import deque
from collections.abc import Sequence
from typing import Final

import numpy as np
import zmq

from contract.codec import decode, encode
from contract.errors import StackError
from contract.messages import Goodbye, Hello, Ping, Pong, Welcome
from contract.server_info import CameraSpec, ServerInfo
from contract.station import load_station
from contract.types import ActionChunk, Observation
from contract.wire import Buffer
from robot_client.faults.rows import HORIZON, MAX_PREFIX, STEP_NS, rows_for
from robot_client.scripted_link import chunk_for, scripted_info

MODES: Final = ("sound", "slow", "nan", "stale", "swap", "reorder", "another")
ANSWER_NS: Final = 8_000_000
SLOW_NS: Final = 700_000_000
_POLL_MS: Final = 5
_REBIND_S: Final = 2.0


class ScriptedServer:
    """One socket, one thread. `mode` may change between two messages."""

    def __init__(self, info: ServerInfo, bind: str) -> None:
        self._info, self._bind = info, bind
        self._context = zmq.Context()
        self.mode = "sound"
        self._due: deque[tuple[int, bytes, Sequence[Buffer]]] = deque()
        self._held: tuple[bytes, int, ActionChunk] | None = None
        self._before: ActionChunk | None = None
        self._newest: ActionChunk | None = None

    def open(self) -> str:
        """Listen; returns where."""
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.linger = 0
        until_s = time.monotonic() + _REBIND_S
        while True:
            try:
                self._socket.bind(self._bind)
                break
            except zmq.ZMQError as error:  # the socket before it gives its port back a moment after it was closed
                if error.errno != zmq.EADDRINUSE or time.monotonic() > until_s:
                    raise
                time.sleep(0.01)
        self._bind = self._socket.get_string(zmq.LAST_ENDPOINT).rstrip("\0")
        return self._bind

    def switch(self, mode: str) -> None:
        """From now on. "another" is another policy behind the same address: nobody's session is known to it."""
        if (mode == "another") != (self.mode == "another"):
            self._socket.close()
            self._due.clear()
            weights = "another" if mode == "another" else "none"
            self._info = self._info.model_copy(update={"weights_hash": weights})
            self.open()
        self.mode = mode

    def step(self) -> None:
        """Take what is there, give what is due."""
        while self._socket.poll(self._wait_ms()):
            peer, *frames = self._socket.recv_multipart()
            try:
                envelope = decode(frames)
            except StackError:
                continue
            self._take(peer, envelope.request_id, envelope.message)
        while self._due and self._due[0][0] <= time.monotonic_ns():
            _, peer, answer = self._due.popleft()
            self._socket.send_multipart([peer, *answer])

    def _wait_ms(self) -> int:
        if not self._due:
            return _POLL_MS
        return max(0, min(_POLL_MS, (self._due[0][0] - time.monotonic_ns()) // 1_000_000))

    def _take(self, peer: bytes, request_id: int, message: object) -> None:
        if isinstance(message, Hello):
            self._socket.send_multipart([peer, *encode(Welcome(self._info), request_id)])
        elif isinstance(message, Ping):
            self._socket.send_multipart([peer, *encode(Pong(message.sequence, "READY"), request_id)])
        elif isinstance(message, Observation):
            self._question(peer, request_id, message)
        elif isinstance(message, Goodbye):
            self._held = None

    def _question(self, peer: bytes, request_id: int, asked: Observation) -> None:
        chunk = chunk_for(asked, rows_for(asked), asked.first_row, ANSWER_NS)
        # A question asked again has the same rows: the answer before it would be a right one.
        if self._newest is not None and self._newest.first_row != chunk.first_row:
            self._before = self._newest
        self._newest = chunk
        sent = self._spoilt(chunk)
        due_ns = time.monotonic_ns() + (SLOW_NS if self.mode == "slow" else ANSWER_NS)
        held, self._held = self._held, None
        if self.mode == "reorder" and held is None:
            self._held = (peer, request_id, sent)  # until the next question has its answer
            return
        self._due.append((due_ns, peer, encode(sent, request_id)))
        if held is not None:
            self._due.append((due_ns, held[0], encode(held[2], held[1])))

    def _spoilt(self, chunk: ActionChunk) -> ActionChunk:
        if self.mode == "nan":
            rows = chunk.rows.copy()
            rows[min(1, len(rows) - 1), 3] = np.nan
            return dataclasses.replace(chunk, rows=rows)
        if self.mode == "stale" and self._before is not None:
            return self._before
        if self.mode == "swap" and self._before is not None:
            return dataclasses.replace(chunk, rows=self._before.rows, first_row=self._before.first_row)
        return chunk


def info_for(station: str) -> ServerInfo:
    """Small images: what is rehearsed is not their transport."""
    specs = [CameraSpec(role=c.role, height=16, width=16) for c in load_station(station).cameras]
    return scripted_info(specs, STEP_NS, HORIZON, MAX_PREFIX)


def main() -> int:
    """Entry point."""
    server = ScriptedServer(info_for(sys.argv[1] if len(sys.argv) > 1 else "twin"), "tcp://127.0.0.1:*")
    print(f"READY {server.open()}", flush=True)
    os.set_blocking(sys.stdin.fileno(), False)
    while (line := _line()) != "end":
        if line in MODES:
            server.switch(line)
        server.step()
    return 0


def _line() -> str:
    """A command, "" for none, "end" at the end of standard input."""
    try:
        data = os.read(sys.stdin.fileno(), 64)
    except BlockingIOError:
        return ""
    return data.decode(errors="replace").strip().splitlines()[-1] if data.strip() else "" if data else "end"


if __name__ == "__main__":
    sys.exit(main())
