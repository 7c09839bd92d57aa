"""Listening to the processes of a run at its two ends: until it is ready, and until its loop is gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from contract.errors import RigError
from robot_client.demo.deadline import Deadline
from robot_client.demo.processes import START_S, Processes
from robot_client.local_messages import LocalMessage, LoopStatus, PolicyReady

PROCESSES_S: Final = 2.3
"""Kept of the whole end for ending the processes and for the report; before that the loop brakes, holds and parks."""
_POLL_S: Final = 0.02


def wait_ready(
    processes: Processes, take: Callable[[LocalMessage], None], timeout_s: float = START_S
) -> PolicyReady | None:
    """Waits for torque on and, where there is to be one, a policy that fits; `take` sees every message.

    Raises `RigError` when it is late.
    """
    policy: PolicyReady | None = None
    mode = ""
    deadline = time.monotonic() + timeout_s
    while (policy is None and processes.plans) or mode != "IDLE":
        for message in processes.messages():
            take(message)
            policy = message if isinstance(message, PolicyReady) else policy
            mode = message.mode if isinstance(message, LoopStatus) else mode
        processes.require_running()
        if time.monotonic() > deadline:
            raise RigError(
                "robot side",
                expected=f"torque on and a policy within {timeout_s:.0f} s",
                got=f"mode {mode or 'unknown'}, {'a' if policy else 'no'} policy: {processes.last_words()}",
                remedy=f"see {processes.logs}",
            )
        time.sleep(_POLL_S)
    return policy


def see_loop_end(processes: Processes, deadline: Deadline, take: Callable[[LocalMessage], None]) -> None:
    """After "finish": until the loop is gone, or `PROCESSES_S` before the deadline. `take` sees every message."""
    while _loop_runs(processes) and deadline.left_s(reserve_s=PROCESSES_S) > 0.0:
        processes.tell("alive")  # an operator who is gone would hold the arms on their way to the park pose
        for message in processes.messages():
            take(message)
        time.sleep(_POLL_S)
    for message in processes.messages():
        take(message)


def _loop_runs(processes: Processes) -> bool:
    return processes.loop is not None and processes.loop.running
