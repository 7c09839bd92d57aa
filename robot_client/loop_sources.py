"""What may drive the arms of a loop process, from its configuration and its station."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from contract.station import Station
from robot_client.clock import NS_PER_MS, NS_PER_S, Clock
from robot_client.pilot import Pilot
from robot_client.process_config import LoopConfig
from robot_client.safety.limits import Limits
from robot_client.sources.base import TargetSource
from robot_client.sources.pose import PoseSource
from robot_client.sources.replanner import PlanSettings
from robot_client.teleop.mail import MailedLeader

_POSE_SHARE: Final = {False: 0.35, True: 0.8}
"""Share of the speed limits on the way to a pose: on real arms with people near, and on rigs that park themselves."""


def make_pilot(station: Station, limits: Limits, parks_itself: bool) -> Pilot:
    """With the station's poses to go to."""
    share = _POSE_SHARE[parks_itself]
    poses = {name: PoseSource(name, getattr(station.poses, name).vector(), limits, share) for name in ("home", "park")}
    return Pilot(poses, parks_itself, limits)


def make_leader(config: LoopConfig, clock: Clock) -> MailedLeader | None:
    """The leader of the run, if it has one."""
    if not config.leader_dir:
        return None
    return MailedLeader(Path(config.leader_dir), config.leader, config.leader_align, clock)


def make_episode(config: LoopConfig, limits: Limits, parks_itself: bool) -> TargetSource:
    """Read before the first tick: the loop itself never touches a disk."""
    from robot_client.episodes.course import course_of
    from robot_client.episodes.source import EpisodeSource

    return EpisodeSource(course_of(Path(config.episode)), limits, _POSE_SHARE[parks_itself], config.episode_speed)


def plan_settings(config: LoopConfig, station: Station) -> PlanSettings:
    """When and how the policy is asked."""
    timing = station.timing
    return PlanSettings(
        replan_rows=timing.replan_rows,
        budget_ns=int(timing.answer_budget_ms * NS_PER_MS),
        grace_ns=int(timing.grace_ms * NS_PER_MS),
        patience_ns=int(config.first_chunk_s * NS_PER_S),
        seed=config.seed,
        guidance=config.guidance,
        lead_ns=int(station.lead_ms() * NS_PER_MS),
    )
