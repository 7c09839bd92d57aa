"""`python -m robot_client.link.bench_peer`: the robot's side of `yam-policy bench wire`.

Prints one line of JSON with the sizes of the frames it exchanges, then for every line `N` on standard input replans N
times and prints a line of JSON with a sample for each. Ends with its standard input.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.codec import encode
from contract.errors import CodecError, StackError
from contract.heap import keep_freed_memory
from contract.layout import SIZE
from contract.server_info import ServerInfo
from contract.types import ActionChunk, Observation
from robot_client.link.policy_link import PolicyLink

SCENES: Final = 12
"""Different sets of camera images that take turns, so that sources are no warmer in the cache than a camera's."""


def observe(scene: dict[str, NDArray], info: ServerInfo, number: int) -> Observation:
    """What a planner does: take the newest images out of the camera buffers, put the question together."""
    now_ns = time.monotonic_ns()
    images = {role: image.copy() for role, image in scene.items()}
    return Observation(
        session="bench",
        epoch=0,
        sequence=number,
        stamp_ns=now_ns,
        joints=np.zeros(SIZE, np.float32),
        joints_stamp_ns=now_ns,
        images=images,
        image_stamps_ns=dict.fromkeys(images, now_ns),
        instruction=" ".join(info.vocabulary[:3]),
        seed=number,
        first_row=4,
        prefix=np.zeros((4, SIZE), np.float32),
        budget_ns=0,
    )


class Peer:
    """Replans through the link, one at a time."""

    def __init__(self, address: str, roles: frozenset[str]) -> None:
        self._link = PolicyLink(address, "bench", roles)
        self._info = self._link.connect(10_000.0)
        rng = np.random.default_rng(0)
        self._scenes = [
            {spec.role: rng.integers(0, 256, (spec.height, spec.width, 3), np.uint8) for spec in self._info.cameras}
            for _ in range(SCENES)
        ]
        self._number = 0

    def sizes(self) -> dict[str, object]:
        """Bytes of each frame of a request and of its answer, and of one image."""
        _, chunk = self._replan()
        request = encode(observe(self._scenes[0], self._info, 0), 1)
        return {
            "request_sizes": [len(frame) for frame in request],
            "reply_sizes": [len(frame) for frame in encode(chunk, 1)],
            "image_bytes": max(image.nbytes for image in self._scenes[0].values()),
        }

    def sample(self) -> dict[str, int]:
        """One replan: `whole_ns` from camera buffers to a checked chunk, and what the server says it spent."""
        whole_ns, chunk = self._replan()
        return {
            "whole_ns": whole_ns,
            "engine_ns": chunk.durations_ns["engine"],
            "server_ns": chunk.durations_ns["total"],
            "branches": len(chunk.branches_run),
        }

    def close(self) -> None:
        """Say goodbye."""
        self._link.close()

    def _replan(self) -> tuple[int, ActionChunk]:
        self._number += 1
        scene = self._scenes[self._number % SCENES]
        begin_ns = time.perf_counter_ns()
        chunk = self._link.wait_for(self._link.submit(observe(scene, self._info, self._number)))
        took_ns = time.perf_counter_ns() - begin_ns
        if not isinstance(chunk, ActionChunk):
            raise CodecError("answer", expected="a chunk", got=type(chunk).__name__, remedy="run the benchmark again")
        return took_ns, chunk


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m robot_client.link.bench_peer")
    parser.add_argument("--server", required=True, help="address of the server")
    parser.add_argument("--roles", nargs="+", required=True, help="cameras to send")
    arguments = parser.parse_args()
    keep_freed_memory()
    try:
        peer = Peer(arguments.server, frozenset(arguments.roles))
        print(json.dumps(peer.sizes()), flush=True)
        for line in sys.stdin:
            print(json.dumps([peer.sample() for _ in range(int(line))]), flush=True)
        peer.close()
    except StackError as error:
        print(f"bench peer: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
