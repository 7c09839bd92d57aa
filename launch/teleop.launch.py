"""A leader and the client that hands the arms over: to the person (~/teleop), to the policy (~/engage), and back.

rig:=twin starts the twin and moves nothing real. rig:=arms needs held arms, and comes up without torque."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import yam_arguments as a
import yam_launch as y

ARGUMENTS = (
    a.STATION,
    a.Argument("rig", "twin", "which arms follow", choices=("twin", "arms")),
    a.Argument("leader", "topics", "where the leader comes from", choices=("topics", "gello", "yam", "scripted")),
    a.Argument("leader_topics", "leader/joint_states", "topics with the leader's joints, divided by blanks"),
    a.Argument("align", "auto", "who moves at a takeover; auto: who can", choices=("auto", "leader", "follower")),
    a.SERVER,
    a.KEYS,
    a.INSTRUCTION,
    a.Argument("run_dir", "", "mailbox folder of the arms' holders; empty: the station's own", "folder"),
    a.RECORD,
    a.TRANSFORMS,
    a.NAMESPACE,
    a.SECONDS,
)


def build(values):
    """With a server address the policy can be handed the arms, too."""
    folder, remove = y.mailboxes("yam-teleop-")
    twin = values["rig"] == "twin"
    moves = values["leader"] in ("yam", "scripted")
    align = values["align"] if values["align"] != "auto" else "leader" if moves else "follower"
    common = {"station": values["station"], "frames_dir": folder}
    client = y.node(
        "client",
        values,
        **common,
        autostart="activate" if twin else "configure",
        rig="ros" if twin else "yam",
        run_dir="" if twin else values["run_dir"],
        leader_dir=folder,
        leader=values["leader"],
        leader_align=align,
        server=values["server"],
        keys=values["keys"],
        instruction=values["instruction"],
    )
    simulated = [y.node("twin", values, autostart="activate", station=values["station"])] if twin else []
    return [
        *simulated,
        y.node(
            "leader",
            values,
            autostart="activate",
            station=values["station"],
            leader_dir=folder,
            kind=values["leader"],
            joint_topics=values["leader_topics"].split(),
        ),
        y.node("cameras", values, **common, autostart="activate", from_topics=twin),
        client,
        *y.transforms(values),
        *y.recorder(values),
        y.ends_all(client),
        *y.ends_after(values["seconds"]),
        remove,
    ]


def generate_launch_description():
    """For `ros2 launch`."""
    return y.describe(ARGUMENTS, build)
