"""`python -m robot_client.bench.load`: keeps a policy server replanning back to back, as one robot could at most.

Prints one line per answer, so that whoever started it can count; ends when its standard input ends.
"""

from __future__ import annotations

import argparse
import select
import sys
import time

import numpy as np

from contract.errors import StackError
from contract.layout import SIZE
from contract.server_info import ServerInfo
from contract.types import ActionChunk, Observation
from robot_client.link.asked import Answer
from robot_client.link.policy_link import PolicyLink

_WORDS = 4
_GAP_S = 0.02


def question(info: ServerInfo, session: str, sequence: int, stamp_ns: int) -> Observation:
    """An observation of noise that the server must answer in full."""
    random = np.random.default_rng(sequence)
    size = {camera.role: (camera.height, camera.width, 3) for camera in info.cameras}
    return Observation(
        session=session,
        epoch=0,
        sequence=sequence,
        stamp_ns=stamp_ns,
        joints=np.zeros(SIZE, np.float32),
        joints_stamp_ns=stamp_ns,
        images={role: random.integers(0, 256, shape, np.uint8) for role, shape in size.items()},
        image_stamps_ns=dict.fromkeys(size, stamp_ns),
        instruction=" ".join(info.vocabulary[:_WORDS]),
        seed=sequence,
        first_row=0,
        prefix=np.zeros((0, SIZE), np.float32),
        budget_ns=0,
    )


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m robot_client.bench.load")
    parser.add_argument("--server", required=True)
    parser.add_argument("--session", default="load")
    parser.add_argument("--roles", nargs="+", required=True)
    arguments = parser.parse_args()
    link = PolicyLink(arguments.server, arguments.session, frozenset(arguments.roles))
    try:
        info = link.connect()
        sequence = 0
        while not select.select([sys.stdin], (), (), 0.0)[0]:
            link.submit(question(info, arguments.session, sequence, time.monotonic_ns()))
            while not (answers := link.poll(1.0)):
                pass  # every request ends in an answer; the link has its own deadline
            sequence += 1
            _tell(answers)
    except StackError as error:
        print(f"load: {error}", file=sys.stderr)
        return 2
    link.close()
    return 0


def _tell(answers: list[Answer]) -> None:
    for answer in answers:
        if isinstance(answer.outcome, ActionChunk):
            print("answered", flush=True)
        else:
            print(f"load: {answer.outcome}", file=sys.stderr, flush=True)
            time.sleep(_GAP_S)


if __name__ == "__main__":
    sys.exit(main())
