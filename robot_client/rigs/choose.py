"""The rig of a configuration."""

from __future__ import annotations

from pathlib import Path

from contract.errors import ConfigurationError
from contract.station import Station
from robot_client.clock import Clock
from robot_client.process_config import RigConfig
from robot_client.rigs.base import Rig


def make_rig(config: RigConfig, station: Station, clock: Clock) -> Rig:
    """An unopened rig, misbehaving as `config.inject` asks. Each kind is imported only when it is wanted.

    Raises `ConfigurationError` for faults on arms that are not made up.
    """
    rig = _sound_rig(config, station, clock)
    if not config.inject:
        return rig
    from robot_client.inject.checked import faults_of
    from robot_client.inject.effects import Effects
    from robot_client.inject.rig import InjectedRig
    from robot_client.inject.since import Since

    faults, folder = faults_of(config, station), Path(config.inject_dir)
    return InjectedRig(rig, faults, Since(folder), clock, Effects(folder, "rig", faults))


def _sound_rig(config: RigConfig, station: Station, clock: Clock) -> Rig:
    if config.rig == "ideal":
        from robot_client.rigs.ideal import IdealRig

        return IdealRig(clock, station.poses.home.vector(), station.cameras)
    if config.rig == "yam":
        return _yam(config, station, clock)
    if not config.run_dir:
        whose = "the twin's" if config.rig == "sim" else "the arms' bridge's"
        raise ConfigurationError("run_dir", expected=f"{whose} mailbox folder", got="nothing", remedy="name it")
    roles = [camera.role for camera in station.cameras]
    if config.rig == "ros":
        from robot_client.rigs.ros import RosRig

        return RosRig(Path(config.run_dir), Path(config.frames_dir or config.run_dir), roles, clock)
    from robot_client.rigs.sim import SimRig

    return SimRig(Path(config.run_dir), roles, clock.now_ns)


def _yam(config: RigConfig, station: Station, clock: Clock) -> Rig:
    from robot_client.holder.places import arms_directory
    from robot_client.rigs.yam import YamRig, no_frames

    frames = no_frames
    if config.frames_dir:
        from robot_client.rigs.mailbox_frames import MailboxFrames

        frames = MailboxFrames(Path(config.frames_dir), [camera.role for camera in station.cameras]).frames
    elif station.arms is not None and station.arms.bus == "emulated":
        from robot_client.rigs.ideal import IdealRig

        # A dry run has no cameras either: the policy sees grey walls.
        frames = IdealRig(clock, station.poses.home.vector(), station.cameras).frames
    return YamRig(station, arms_directory(station, config.run_dir), clock, frames)
