"""`python -m robot_client.bench.bare`: a loop that only sleeps to absolute deadlines; the floor for any loop in Python.

It takes the same rights as the control loop and sleeps the same way. Prints JSON: rights, lateness_ns.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from robot_client.clock import NS_PER_S
from robot_client.realtime import take_rights


def sleep_loop(period_ns: int, ticks: int) -> list[int]:
    """Lateness of each wake-up [ns]; whole missed periods are skipped and are part of the lateness."""
    lateness_ns = [0] * ticks
    deadline_ns = time.monotonic_ns() + period_ns
    for i in range(ticks):
        while (left_ns := deadline_ns - time.monotonic_ns()) > 0:
            time.sleep(left_ns / NS_PER_S)
        late_ns = time.monotonic_ns() - deadline_ns
        lateness_ns[i] = late_ns
        deadline_ns += period_ns * (1 + late_ns // period_ns)
    return lateness_ns


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m robot_client.bench.bare")
    parser.add_argument("--hz", type=float, required=True)
    parser.add_argument("--ticks", type=int, required=True)
    arguments = parser.parse_args()
    rights = take_rights()
    lateness_ns = sleep_loop(int(NS_PER_S / arguments.hz), arguments.ticks)
    json.dump({"rights": rights, "lateness_ns": lateness_ns}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
