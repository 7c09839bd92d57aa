"""A real policy server kept busy, as the load that loops are measured beside."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Final

from contract.station import load_station
from robot_client.demo.children import Child, start_child

START_S: Final = 60.0


class BusyServer:
    """`python -m policy_server serve` and a client that asks back to back; both end with the `with` block."""

    def __init__(self, bundle: Path, threads: int, logs: Path) -> None:
        self._bundle, self._threads, self._logs = bundle, threads, logs
        self._children: list[Child] = []

    @property
    def described(self) -> dict[str, object]:
        """For the results."""
        return {
            "kind": "yam-policy serve, asked back to back by one client on this machine",
            "bundle": self._bundle.name,
            "engine_threads": self._threads,
        }

    def __enter__(self) -> BusyServer:
        args = ["policy_server", "serve", "--bundle", str(self._bundle), "--bind", "tcp://127.0.0.1:0"]
        server = start_child(
            "bench_server", [*args, "--threads", str(self._threads), "--stop-with-stdin"], self._logs, eof=True
        )
        self._children.append(server)
        address = server.wait_for_line("READY ", START_S).split()[1]
        roles = [camera.role for camera in load_station("twin").cameras]
        ask = ["robot_client.bench.load", "--server", address, "--roles", *roles]
        load = start_child("bench_load", ask, self._logs, eof=True)
        self._children.append(load)
        load.wait_for_line("answered", START_S)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for child in reversed(self._children):
            child.end(2.0)

    def answers(self) -> int:
        """Replans answered so far. Raises `RigError` when server or client died."""
        for child in self._children:
            child.require_running()
        return self._children[1].log.read_text(errors="replace").count("answered\n")
