"""One picture's way from light to motor, in stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robot_client.latency.executed import FirstTick
from robot_client.latency.motion import Motion
from robot_client.latency.stages import served_ns, server_stages_ns
from robot_client.local_messages import ReplanRecord

Arrivals = Mapping[tuple[str, int], int]
"""(camera role, stamp) -> when the image was first seen readable."""
_SAME_STAMP_NS = 200_000
"""A stamp is told from the image's age, which loses this much at most between two readings of the clock."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """One replan whose rows were run."""

    captured_ns: int
    """Stamp of its oldest image."""
    stages_ns: Mapping[str, int]
    """Stage -> duration, without `motor` when no movement was seen."""
    end_to_end_ns: int | None
    """Oldest image's stamp to the first movement; measured on its own, not a sum."""
    to_command_ns: int
    """Oldest image's stamp to the command."""
    from_rest: bool
    """The arms stood still before, so that the movement is this chunk's and no other's."""
    transport_seen: bool
    """The watcher saw the image arrive; else `wait` has its transport too."""

    @property
    def left_over_ns(self) -> int | None:
        """The whole less the sum of the stages."""
        return None if self.end_to_end_ns is None else self.end_to_end_ns - sum(self.stages_ns.values())


def oldest_image(record: ReplanRecord) -> tuple[str, int]:
    """Role and stamp of the oldest image of a replan."""
    role = max(record.image_ages_ns, key=lambda name: record.image_ages_ns[name])
    return role, record.sent_ns - record.resize_ns - record.image_ages_ns[role]


def cross(record: ReplanRecord, tick: FirstTick, arrivals: Arrivals, motion: Motion) -> Crossing:
    """The stages of an answered replan, from its record, its first tick, and what the watcher saw."""
    role, captured_ns = oldest_image(record)
    built_ns = record.sent_ns - record.resize_ns
    arrived_ns = _arrival(arrivals, role, captured_ns, built_ns)
    moved_ns = motion.first_after(tick.commanded_ns)
    link_ns = record.client_ns["round_trip"] - served_ns(record.durations_ns)
    stages = {
        "exposure": 0,
        "transport": (arrived_ns or captured_ns) - captured_ns,
        "wait": built_ns - (arrived_ns or captured_ns),
        "build": record.resize_ns + record.client_ns["check"],
        "encode": record.client_ns["encode"],
        "link_out": link_ns // 2,
        **server_stages_ns(record.durations_ns),
        "link_back": link_ns - link_ns // 2,
        "decode": record.client_ns["decode"],
        "buffer": tick.safety_begun_ns - record.answered_ns,
        "safety": tick.safety_ns,
        "command": tick.command_ns,
    }
    if moved_ns is not None:
        stages["motor"] = moved_ns - tick.commanded_ns
    return Crossing(
        captured_ns=captured_ns,
        stages_ns=stages,
        end_to_end_ns=None if moved_ns is None else moved_ns - captured_ns,
        to_command_ns=tick.commanded_ns - captured_ns,
        from_rest=motion.at_rest(tick.commanded_ns),
        transport_seen=arrived_ns is not None,
    )


def _arrival(arrivals: Arrivals, role: str, captured_ns: int, built_ns: int) -> int | None:
    """When the image was readable; the planner may have read it before the watcher looked."""
    seen = [at for (name, stamp), at in arrivals.items() if name == role and abs(stamp - captured_ns) < _SAME_STAMP_NS]
    return min(*seen, built_ns) if seen else None
