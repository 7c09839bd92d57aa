"""Parameters of the client node, and what they mean for loop and planner."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import ValidationError

from contract.errors import ConfigurationError
from contract.types import GuidanceMode
from robot_client.process_config import LoopConfig, PlannerConfig, RigKind
from yam_vam.crew import CrewSettings
from yam_vam.parameters import STATION, Parameter

PARAMETERS: Final = (
    STATION,
    Parameter(
        "rig",
        "ros",
        "arms: ros (topics), yam (real arms, held by `yam-robot arms start`), sim (the twin's mailboxes), ideal",
        choices=get_args(RigKind),
    ),
    Parameter("server", "", "address of the policy server, tcp://HOST:PORT; empty: no policy"),
    Parameter("keys", "", "folder of CURVE keys made by `yam-policy keys`; empty: none"),
    Parameter("instruction", "", "what the policy is told; the topic ~/instruction changes it too", changes=True),
    Parameter("guidance", "adaptive", "how the guidance scales are set", choices=get_args(GuidanceMode)),
    Parameter("seed", 0, "seed of the policy's noise", least=0, most=2**31 - 1),
    Parameter("run_dir", "", "mailbox folder of the twin (rig sim) or of the arms' holders (rig yam, empty: its own)"),
    Parameter("frames_dir", "", "folder of the camera mailboxes that the node `cameras` fills"),
    Parameter("joint_topics", ["joint_states"], "topics with the arms' joints, one or one for each arm (rig ros)"),
    Parameter("episode", "", "episode folder or .mcap that ~/replay runs; empty: none"),
    Parameter("episode_speed", 1.0, "1 = as fast as it was", least=0.01, most=1.0),
    Parameter("leader_dir", "", "mailbox folder that the node `leader` fills, for ~/teleop; empty: no leader"),
    Parameter("leader", "leader", "name of the leader in messages"),
    Parameter("leader_align", "follower", "who moves at a takeover", choices=("leader", "follower")),
    Parameter(
        "on_activate",
        "nothing",
        "what follows activation by itself, on the twin only: nothing, engage (the policy) or replay (the episode)",
        choices=("nothing", "engage", "replay"),
    ),
    Parameter("server_timeout_s", 20.0, "longest wait for the policy server at configure", least=1.0, most=600.0),
    Parameter("first_chunk_s", 20.0, "longest wait for the first chunk after ~/engage", least=0.1, most=600.0),
    Parameter("report_ticks", 4, "ticks of the loop in one report; fewer come sooner and cost more", least=1, most=20),
    Parameter("realtime", True, "ask for SCHED_FIFO, locked memory and a frozen collector"),
    Parameter("logs", "out/ros/logs", "folder of the logs of loop, planner and bridge"),
)


def crew_settings(values: dict[str, Any], namespace: str) -> CrewSettings:
    """Raises `ConfigurationError` naming the parameter at fault."""
    if values["on_activate"] != "nothing" and values["rig"] == "yam":
        got, remedy = values["on_activate"], "a person calls ~/engage or ~/replay"
        raise ConfigurationError("parameter on_activate", expected="nothing on real arms", got=got, remedy=remedy)
    common = {key: values[key] for key in ("station", "rig", "run_dir", "frames_dir")}
    own = (
        "instruction", "seed", "guidance", "episode", "episode_speed", "first_chunk_s", "report_ticks", "realtime",
        "leader_dir", "leader", "leader_align",
    )  # fmt: skip
    try:
        loop = LoopConfig(**common, **{key: values[key] for key in own}, enable_on_start=False)
        planner = None
        if values["server"]:
            session = f"ros{namespace.replace('/', '-').rstrip('-')}-{os.getpid()}"
            planner = PlannerConfig(**common, server=values["server"], session=session[:64], keys=values["keys"])
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in fault["loc"])
        raise ConfigurationError(
            f"parameter {name}", expected=fault["msg"], got=str(fault.get("input"))[:100]
        ) from error
    ros = ("-r", f"__ns:={namespace}")
    return CrewSettings(loop, planner, Path(values["logs"]).absolute(), tuple(values["joint_topics"]), ros)
