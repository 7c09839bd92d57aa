"""The client's side of the comparison: openpi's public `WebsocketClientPolicy`, timed as ours is.

Run by path with the interpreter of an environment that has openpi-client: `python openpi_peer.py PORT HEIGHT WIDTH`.
Imports nothing of this project, which needs a newer numpy. For every line `N` of standard input it prints a line of
JSON with N round trips in ns: from the observation as arrays to the answer as arrays.
"""

import json
import sys
import time

import numpy as np
from openpi_client.websocket_client_policy import WebsocketClientPolicy

ROLES = ("top", "left_wrist", "right_wrist")


def main() -> None:
    """Answer lines until standard input ends."""
    port, height, width = (int(text) for text in sys.argv[1:4])
    client = WebsocketClientPolicy("127.0.0.1", port)
    random = np.random.default_rng(0)
    images = {role: random.integers(0, 256, (height, width, 3), np.uint8) for role in ROLES}
    question = {**images, "state": np.zeros(14, np.float32), "prompt": "put the red cube in the bin"}
    for line in sys.stdin:
        print(json.dumps([round_trip(client, question) for _ in range(int(line))]), flush=True)


def round_trip(client: WebsocketClientPolicy, question: dict) -> int:
    """One question and its answer [ns]."""
    begun_ns = time.perf_counter_ns()
    rows = client.infer(question)["actions"]
    spent_ns = time.perf_counter_ns() - begun_ns
    if rows.shape != (16, 14):
        raise SystemExit(f"openpi peer: actions (16, 14) expected, got {rows.shape}")
    return spent_ns


if __name__ == "__main__":
    main()
