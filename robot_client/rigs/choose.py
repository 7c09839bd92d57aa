"""The rig of a configuration."""

from __future__ import annotations

from pathlib import Path

from contract.errors import ConfigurationError
from contract.station import Station
from robot_client.clock import Clock
from robot_client.process_config import RigConfig
from robot_client.rigs.base import Rig


def make_rig(config: RigConfig, station: Station, clock: Clock) -> Rig:
    """An unopened rig. Each kind is imported only when it is wanted."""
    if config.rig == "ideal":
        from robot_client.rigs.ideal import IdealRig

        return IdealRig(clock, station.poses.home.vector(), station.cameras)
    if config.rig == "yam":
        return _yam(config, station, clock)
    if not config.run_dir:
        raise ConfigurationError("run_dir", expected="the twin's mailbox folder", got="nothing", remedy="name it")
    from robot_client.rigs.sim import SimRig

    return SimRig(Path(config.run_dir), [camera.role for camera in station.cameras], clock.now_ns)


def _yam(config: RigConfig, station: Station, clock: Clock) -> Rig:
    from robot_client.holder.places import arms_directory
    from robot_client.rigs.yam import YamRig, no_frames

    frames = no_frames
    if station.arms is not None and station.arms.bus == "emulated":
        from robot_client.rigs.ideal import IdealRig

        # A dry run has no cameras either: the policy sees grey walls.
        frames = IdealRig(clock, station.poses.home.vector(), station.cameras).frames
    return YamRig(station, arms_directory(station, config.run_dir), clock, frames)
