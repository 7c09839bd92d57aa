"""The watcher of a run: what it looks with, whom it asks, and where its pictures are kept."""

from __future__ import annotations

from contract.station import load_station
from robot_client.clock import MonotonicClock
from robot_client.demo.processes import Processes
from robot_client.demo.settings import RunSettings
from robot_client.demo.watcher import Watcher
from robot_client.episodes.feed import FeedSender
from robot_client.link.policy_link import PolicyLink
from robot_client.process_config import RigConfig
from robot_client.rigs.choose import make_rig


def watcher_of(settings: RunSettings, processes: Processes) -> Watcher:
    """Not started yet. It has a session of its own, so that it never takes the robot's turn."""
    station = load_station(settings.station)
    config = RigConfig(station=settings.station, rig=settings.rig, run_dir=processes.rig_dir)
    session = f"watcher-{processes.run_dir.name[-8:]}"
    link = PolicyLink(processes.address, session, frozenset(camera.role for camera in station.cameras))
    rig = make_rig(config, station, MonotonicClock())
    feed = processes.recorder_address
    recorder = FeedSender(feed, counted=False) if feed else None
    return Watcher(link, rig, station, session, settings.instruction, settings.imagine_every_s, recorder)
