"""`python -m robot_client.payload.peer SERVER`: our client's side of the comparison.

For every line `N` of standard input it prints a line of JSON with N round trips in ns: from the observation as arrays
to the checked chunk as arrays, encoding and decoding included.
"""

from __future__ import annotations

import json
import select
import sys
from typing import Final

import numpy as np

from contract.errors import StackError
from contract.heap import keep_freed_memory
from contract.layout import SIZE
from contract.server_info import ServerInfo
from contract.types import Observation
from robot_client.clock import MonotonicClock
from robot_client.latency.timed import Timed, time_calls
from robot_client.link.budgets import Budgets
from robot_client.link.policy_link import PolicyLink

ROLES: Final = ("top", "left_wrist", "right_wrist")
_SESSION: Final = "payload"
_PATIENT: Final = Budgets(connect_ms=60_000.0, reply_ms=60_000.0, silent_ms=60_000.0)
"""What takes long is measured, and not given up."""
_POLL_S: Final = 0.05


def question(info: ServerInfo, sequence: int) -> Observation:
    """Noise of the size the server wants, the same pixels every time."""
    random = np.random.default_rng(0)
    images = {spec.role: random.integers(0, 256, (spec.height, spec.width, 3), np.uint8) for spec in info.cameras}
    return Observation(
        session=_SESSION,
        epoch=0,
        sequence=sequence,
        stamp_ns=0,
        joints=np.zeros(SIZE, np.float32),
        joints_stamp_ns=0,
        images=images,
        image_stamps_ns=dict.fromkeys(images, 0),
        instruction="put the red cube in the bin",
        seed=0,
        first_row=0,
        prefix=np.zeros((0, SIZE), np.float32),
        budget_ns=0,
    )


def round_trips(link: PolicyLink, asked: Observation, count: int) -> list[int]:
    """Time of each question that was answered [ns]; the link checks that it is a chunk as the server announced it."""
    return time_calls(lambda: link.wait_for(link.submit(asked)), count, MonotonicClock(), Timed(), warm_up=0).calls_ns


def _next_line(link: PolicyLink) -> str:
    """The next line of standard input, empty at its end; the link lives meanwhile."""
    while not select.select([sys.stdin], (), (), 0.0)[0]:
        link.poll(_POLL_S, (sys.stdin.fileno(),))
    return sys.stdin.readline()


def main() -> int:
    """Entry point."""
    keep_freed_memory()
    link = PolicyLink(sys.argv[1], _SESSION, frozenset(ROLES), _PATIENT)
    try:
        asked = question(link.connect(), 0)
        while line := _next_line(link):
            print(json.dumps(round_trips(link, asked, int(line))), flush=True)
    except StackError as error:
        print(f"payload: {error}", file=sys.stderr)
        return 2
    link.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
