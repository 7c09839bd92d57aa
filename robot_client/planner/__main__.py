"""`python -m robot_client.planner`: cameras and policy link in their own process, for a supervisor to start and watch.

Arguments: `--config FILE` (JSON of `process_config.PlannerConfig`), `--supervisor-fd N`, `--loop-fd M` (inherited ends
of `robot_client.channel.channel_pair`; `pass_fds` them and close them in the parent). Start it in a session of its own;
it ignores SIGINT, and ends on SIGTERM and when the loop or the supervisor closes its channel.

Reads from the loop: `PlanRequest`. Sends to it: `PolicyReady` after the handshake with the server, `ActionChunk`
without masses, `PlanFailure`. Sends to the supervisor: the same `PolicyReady`, every `PlanFailure` (sequence -1: no
server, or refused by it, repeated every 2 s while it lasts), and a `ReplanRecord` for every answered replan. With
`recorder` in its configuration the same, whole observations and the server's welcome go there. It goes on trying to
connect for as long as it lives. Exit code 0 on a wanted end, 2 when it could not start.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

import cv2

from contract.errors import StackError
from contract.heap import keep_freed_memory
from contract.station import Station, load_station
from robot_client.camera_roles import offered_roles
from robot_client.channel import Channel, channel_from_fd
from robot_client.clock import Clock, MonotonicClock
from robot_client.episodes.feed import FeedSender
from robot_client.link.policy_link import PolicyLink
from robot_client.planner.planner import Planner
from robot_client.planner.policy_link import PlannerLink
from robot_client.process_config import PlannerConfig, read_config
from robot_client.rigs.choose import make_rig

_STEP_S = 0.05
"""Longest sleep; the link must be polled ten times a second."""


def run_planner(config: PlannerConfig, loop: Channel, supervisor: Channel) -> int:
    """Plan until nobody is there to plan for, or SIGTERM."""
    station, clock = load_station(config.station), MonotonicClock()
    roles = frozenset(offered_roles(station.cameras, config.cameras))
    link = PolicyLink(config.server, config.session, roles, keys=Path(config.keys) if config.keys else None)
    rig = make_rig(config, station, clock)
    recorder = FeedSender(config.recorder) if config.recorder else None
    asked = _misbehaving(link, config, station, clock) if config.inject else link
    planner = Planner(clock, rig, station, asked, config.session, config.cameras, loop, supervisor, _say, recorder)
    told_to_end: list[int] = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: told_to_end.append(number))
    rig.open()
    asked.open()
    if recorder is not None:
        recorder.open()
    while not planner.over and not told_to_end:
        planner.step(_STEP_S)
    asked.close()
    rig.close()
    if recorder is not None:
        recorder.close()
    return 0


def _misbehaving(link: PlannerLink, config: PlannerConfig, station: Station, clock: Clock) -> PlannerLink:
    from robot_client.inject.checked import faults_of
    from robot_client.inject.effects import Effects
    from robot_client.inject.link import InjectedLink
    from robot_client.inject.since import Since

    faults, folder = faults_of(config, station), Path(config.inject_dir)
    effects = Effects(folder, "link", faults)
    return InjectedLink(link, faults, Since(folder), clock, config.inject_seed, effects)


def _say(line: str) -> None:
    print(f"planner: {line}", flush=True)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m robot_client.planner", description="cameras and policy link")
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--supervisor-fd", type=int, required=True)
    parser.add_argument("--loop-fd", type=int, required=True)
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    keep_freed_memory()
    try:
        config = read_config(arguments.config, PlannerConfig)
        return run_planner(config, channel_from_fd(arguments.loop_fd), channel_from_fd(arguments.supervisor_fd))
    except StackError as error:
        print(f"planner: {error}", file=sys.stderr, flush=True)
        return 2


if __name__ == "__main__":
    sys.exit(main())
