"""`python -m robot_client.episodes`: the recorder in its own process, for a supervisor to start and watch.

Arguments: `--config FILE` (JSON of `process_config.RecorderConfig`), `--supervisor-fd N`, `--loop-fd M` (inherited ends
of `robot_client.channel.channel_pair`). Start it in a session of its own; it ignores SIGINT and ends when the loop's
channel ends, or on SIGTERM. Prints `RECORDING folder` once the file is open. Exit code 0 when the episode is complete,
1 when something is missing from it, 2 when it could not start.
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from contract.errors import StackError
from contract.station import load_station
from robot_client.channel import Channel, channel_from_fd
from robot_client.clock import NS_PER_MS, Clock, MonotonicClock
from robot_client.episodes.bag import Bag
from robot_client.episodes.cameras import CameraWatch
from robot_client.episodes.feed import FeedReceiver
from robot_client.episodes.recorder import Recorder
from robot_client.episodes.ros_time import ros_time_now
from robot_client.process_config import RecorderConfig, read_config
from robot_client.rigs.choose import make_rig

_STEP_S: Final = 0.005
"""Longest sleep: a frame of a camera waits at most this long, and is overwritten after a period of the camera."""
_LAST_WORDS_NS: Final = 300 * NS_PER_MS
"""After the loop is gone: the planner's last answers."""
_NICENESS: Final = 5
"""Below loop, planner and server: a late recorder loses nothing, a late loop does."""


def run_recorder(config: RecorderConfig, loop: Channel, supervisor: Channel) -> int:
    """Record until the loop is gone, or SIGTERM."""
    station, clock, feed = load_station(config.station), MonotonicClock(), FeedReceiver(config.feed)
    time, rig = ros_time_now(), make_rig(config, station, clock)
    bag = Bag(Path(config.directory), clock)
    cameras = CameraWatch(rig, station.cameras, time, bag.add, clock.now_ns(), config.codec)
    recorder = Recorder(bag, time, clock, loop, supervisor, feed, cameras)
    told_to_end: list[int] = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: told_to_end.append(number))
    recorder.open(station, config.facts)
    feed.open()
    rig.open()
    print(f"RECORDING {recorder.folder}", flush=True)
    reason = _record(recorder, clock, (feed, loop), told_to_end)
    status = recorder.close(reason)
    feed.close()
    rig.close()
    print(
        f"CLOSED {status.folder}: {status.written} messages, {status.lost} lost {status.trouble}".rstrip(), flush=True
    )
    return 0 if status.complete else 1


def _record(recorder: Recorder, clock: Clock, sources: tuple[FeedReceiver, Channel], told_to_end: Sequence[int]) -> str:
    """Until the loop is gone and the planner's last words are here; why it ended, when that was not as wanted."""
    feed, loop = sources
    until_ns: int | None = None
    try:
        while until_ns is None or clock.now_ns() < until_ns:
            if not recorder.step():
                readable = [feed.fileno()] if recorder.over else [feed.fileno(), loop.fileno()]
                select.select(readable, (), (), _STEP_S)
            if until_ns is None and (recorder.over or told_to_end):
                until_ns = clock.now_ns() + _LAST_WORDS_NS
    except StackError as error:
        return str(error)
    return "" if recorder.over else "told to end before the loop did"


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m robot_client.episodes", description="records one run")
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--supervisor-fd", type=int, required=True)
    parser.add_argument("--loop-fd", type=int, required=True)
    arguments = parser.parse_args()
    os.nice(_NICENESS)
    try:
        config = read_config(arguments.config, RecorderConfig)
        return run_recorder(config, channel_from_fd(arguments.loop_fd), channel_from_fd(arguments.supervisor_fd))
    except StackError as error:
        print(f"recorder: {error}", file=sys.stderr, flush=True)
        return 2


if __name__ == "__main__":
    sys.exit(main())
