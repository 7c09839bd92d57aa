"""`python -m robot_client.teleop`: one leader, read in a process of its own.

`--station`, `--leader keyboard|scripted|gello|yam` and `--folder` (its mailboxes, `robot_client.teleop.mail`). It
prints READY once it reads. A keyboard's keys come over standard input; its end, or SIGTERM, ends the process.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from pathlib import Path

from contract.errors import ConfigurationError, StackError
from contract.station import Station, load_station
from robot_client.clock import Clock, MonotonicClock
from robot_client.teleop.device import LeaderDevice, LeaderThread
from robot_client.teleop.jog import Jog
from robot_client.teleop.keyboard import KeyboardLeader
from robot_client.teleop.leader import KINDS, LeaderKind
from robot_client.teleop.mail import LeaderMail
from robot_client.teleop.scripted import SwingingLeader


def make_device(kind: LeaderKind, station: Station, clock: Clock) -> LeaderDevice:
    """An unopened leader. Raises `ConfigurationError` when the station cannot have it."""
    if kind == "keyboard":
        if station.teleop.dead_man:
            raise ConfigurationError(
                "leader keyboard",
                expected="a leader with a dead-man button, because teleop.dead_man is set",
                got="a keyboard, which has none",
                remedy="use another leader or another station file",
            )
        return KeyboardLeader(Jog(station), clock)
    if kind == "scripted":
        return SwingingLeader(clock)
    if kind == "gello":
        from robot_client.leaders.gello import make_gello

        return make_gello(station, clock)
    from robot_client.leaders.yam import make_yam

    return make_yam(station, clock)


def run_leader(device: LeaderDevice, folder: Path, clock: Clock) -> None:
    """Read until a signal, or until whoever started us is gone."""
    leader = LeaderThread(device, LeaderMail(folder), clock)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: leader.stop())
    leader.open()
    try:
        listener = threading.Thread(target=_listen, args=(device, leader), name="keys", daemon=True)
        listener.start()
        print("READY", flush=True)
        leader.run()
    finally:
        leader.close()


def _listen(device: LeaderDevice, leader: LeaderThread) -> None:
    """Keys, until standard input ends."""
    while typed := os.read(sys.stdin.fileno(), 64):
        if isinstance(device, KeyboardLeader):
            for key in typed.decode("ascii", errors="ignore"):
                device.press(key)
    leader.stop()


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m robot_client.teleop", description="one leader")
    parser.add_argument("--station", required=True)
    parser.add_argument("--leader", choices=KINDS, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    arguments = parser.parse_args()
    clock = MonotonicClock()
    try:
        run_leader(make_device(arguments.leader, load_station(arguments.station), clock), arguments.folder, clock)
    except StackError as error:
        print(f"leader: {error}", file=sys.stderr, flush=True)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
