"""Settings that a supervisor writes to a JSON file for the loop and planner processes it starts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import Field, ValidationError

from contract.errors import ConfigurationError
from contract.server_info import Strict
from contract.types import GuidanceMode

RigKind = Literal["sim", "ideal", "yam", "ros"]


class RigConfig(Strict):
    """Which arms and cameras."""

    station: Annotated[str, Field(min_length=1)] = "twin"
    """Name of a shipped station or path of a station file."""
    rig: RigKind = "sim"
    run_dir: str = ""
    """Mailbox folder of the twin for "sim" and of the arms' bridge for "ros", which need one; of the arms' holders for
    "yam", which knows its own."""
    frames_dir: str = ""
    """Mailbox folder of the cameras, for "yam" and "ros"; empty: none, or the same as `run_dir`."""
    inject: str = ""
    """Faults to rehearse (`robot_client.inject.grammar`), on "sim" and "ideal" only; empty: none."""
    inject_seed: Annotated[int, Field(ge=0, lt=2**64)] = 0
    inject_dir: str = ""
    """Folder where the supervisor says when it engaged; with `inject`."""


class LoopConfig(RigConfig):
    """Everything `python -m robot_client.loop_process` needs to know."""

    instruction: str = ""
    seed: Annotated[int, Field(ge=0, lt=2**64)] = 0
    """The request with sequence n carries seed + n."""
    guidance: GuidanceMode = "adaptive"
    enable_on_start: bool = True
    """Torque on (told seeded from measured) as soon as joints are read; else a person's "enable" does it."""
    first_chunk_s: Annotated[float, Field(gt=0.0, le=600.0)] = 20.0
    """Longest wait for the first chunk after "engage"; then HOLD."""
    episode: str = ""
    """Episode folder or .mcap that "replay" runs; empty: none."""
    episode_speed: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    """1 = as fast as it was."""
    leader_dir: str = ""
    """Folder of a leader's mailboxes (`robot_client.teleop.mail`), for "teleop"; empty: none."""
    leader: str = ""
    """The leader's name in messages."""
    leader_align: Literal["leader", "follower"] = "follower"
    """Who moves at a takeover."""
    external_dir: str = ""
    """Folder of the mailbox that trajectories planned elsewhere come by, for "external"; empty: none."""
    realtime: bool = True
    """Ask for SCHED_FIFO, locked memory and a frozen collector."""
    report_ticks: Annotated[int, Field(ge=1, le=20)] = 20
    """Ticks in one report; fewer come sooner and cost more."""


class PlannerConfig(RigConfig):
    """Everything `python -m robot_client.planner` needs to know."""

    server: Annotated[str, Field(min_length=1)]
    """ZeroMQ address of the policy server, for example tcp://127.0.0.1:5555."""
    session: Annotated[str, Field(min_length=1, max_length=64)]
    cameras: dict[str, str] = Field(default_factory=dict)
    """Role of the policy -> role of the station's camera; empty: the names must be the same."""
    keys: str = ""
    """Folder of CURVE keys; empty: none."""
    recorder: str = ""
    """ZeroMQ address of the recorder; empty: nothing is recorded."""


class RecorderConfig(RigConfig):
    """Everything `python -m robot_client.episodes` needs to know."""

    directory: Annotated[str, Field(min_length=1)]
    """Where episodes lie; this one gets the next number."""
    feed: Annotated[str, Field(min_length=1)]
    """ZeroMQ address to listen on for the planner."""
    codec: Literal["jpeg", "h264"] = "jpeg"
    """Of full-rate camera frames."""
    facts: dict[str, str] = Field(default_factory=dict)
    """What the supervisor knows of the run, kept with the episode: guidance, seed, manifest hash, ..."""


Config = TypeVar("Config", bound=RigConfig)


def write_config(path: Path, config: RigConfig) -> None:
    """For a process about to be started."""
    path.write_text(config.model_dump_json(indent=1), encoding="utf-8")


def read_config(path: Path, kind: type[Config]) -> Config:
    """Raises `ConfigurationError` naming the key at fault."""
    try:
        return kind.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path}", expected="a readable file", got=error.strerror) from error
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in fault["loc"]) or "file"
        raise ConfigurationError(
            f"{path.name}: {key}", expected=fault["msg"], got=repr(fault.get("input"))[:100], remedy="mend the file"
        ) from error
