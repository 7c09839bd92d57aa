"""What the client says of its run: to people in the log, to recorders on the latched topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from contract.handshake import contract_hash
from contract.station import Station
from robot_client.episodes.ros_time import RosTime
from robot_client.episodes.topic_bag import TOPICS
from robot_client.local_messages import LoopStatus, PolicyReady
from yam_vam.calibrated_urdf import known_frames

_OF_THE_RUN: Final = ("rig", "instruction", "guidance", "seed", "server")


def notes_of_run(values: Mapping[str, Any], station: Station, ros_time: RosTime) -> dict[str, dict[str, str]]:
    """Metadata records as an episode of ours has them."""
    facts = {"format": "1", "contract_hash": contract_hash(), "ros_offset_ns": str(ros_time.offset_ns)}
    facts |= {"station": station.name, "recorded": TOPICS}
    facts |= {key: str(values[key]) for key in _OF_THE_RUN}
    return {"episode": facts, "station": {"json": station.model_dump_json()}}


def arms_word(rig: str, station: Station) -> str:
    """What is behind the rig; what is not real says so."""
    if rig == "yam" and station.arms is not None and station.arms.bus == "emulated":
        return 'EMULATED MOTORS (bus = "emulated" in the station file): no real arm is driven'
    return {
        "yam": "REAL ARMS, held by their holders",
        "ros": "whatever drives /joint_commands",
        "sim": "the SIMULATED station",
        "ideal": "IDEAL arms that only mirror what they are told",
    }[rig]


def facts_of(rig: str, station: Station) -> dict[str, str]:
    """For /diagnostics: what moves, and where the frames of the cameras come from."""
    poses = {f"pose of camera {role}": source for role, source in known_frames(station).items()}
    return {"arms": arms_word(rig, station), **poses}


def readiness(policy: PolicyReady | None, status: LoopStatus | None) -> Iterator[str]:
    """Lines for the log once the node is configured."""
    if policy is not None:
        trained = "" if policy.trained else " UNTRAINED WEIGHTS: the arms move, but to no purpose"
        yield f"policy {policy.model_id} on {policy.engine_id}.{trained}"
    notes = status.notes if status is not None else {}
    rights = "; ".join(f"{name}: {text}" for name, text in notes.items() if text)
    yield f"loop is up, no torque yet. {rights}"


def last_word(status: LoopStatus | None) -> str:
    """Mode, reason, and why the last thing a person asked for was not done."""
    if status is None:
        return ""
    return "; ".join(part for part in (f"{status.mode}: {status.reason}", status.notes.get("notice")) if part)


def farewell(status: LoopStatus | None, code: int) -> str:
    """How the arms are left, by the loop's last status and its exit code."""
    state = f"{status.mode}: {status.reason}" if status is not None else "no word from the loop"
    return f"arms left in {state}" + (f" (loop ended with code {code})" if code else "")
