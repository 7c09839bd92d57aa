"""Spinning nodes in tests, always with an end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rclpy.executors import SingleThreadedExecutor


class Spin:
    """An executor with nodes, and a deadline for everything that is waited for."""

    def __init__(self, *nodes: Any) -> None:
        self.executor = SingleThreadedExecutor()
        for node in nodes:
            self.executor.add_node(node)

    def until(self, ready: Callable[[], bool], seconds: float = 60.0, what: str = "") -> float:
        """Spin until `ready`; the seconds it took. Fails when it is not in time."""
        begun = time.monotonic()
        while not ready():
            if time.monotonic() - begun > seconds:
                raise AssertionError(f"not within {seconds} s: {what}")
            self.executor.spin_once(timeout_sec=0.02)
        return time.monotonic() - begun

    def call(self, node: Any, kind: Any, name: str, **fields: Any) -> Any:
        """Call a service and give its answer."""
        client = node.create_client(kind, name)
        self.until(client.service_is_ready, what=f"service {name}")
        future = client.call_async(kind.Request(**fields))
        self.until(future.done, what=f"answer of {name}")
        node.destroy_client(client)
        return future.result()


@contextmanager
def spinning(*nodes: Any) -> Iterator[Spin]:
    """Nodes in an executor; both are gone afterwards."""
    spin = Spin(*nodes)
    try:
        yield spin
    finally:
        spin.executor.shutdown(timeout_sec=1.0)
        for node in nodes:
            node.destroy_node()
