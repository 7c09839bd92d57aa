"""The twin, a policy server and the client: `ros2 launch launch/sim.launch.py`, or after colcon `ros2 launch yam_vam
sim.launch.py bundle:=FOLDER`. Nothing here moves a real arm."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import yam_arguments as a
import yam_launch as y

BUNDLE = y.REPOSITORY / "bundles" / "trained-foresight" if y.REPOSITORY else None
ARGUMENTS = (
    a.STATION,
    a.Argument("bundle", str(BUNDLE) if BUNDLE else "", "policy folder to serve, when no server is given", "bundle"),
    a.SERVER,
    a.Argument("bind", "tcp://127.0.0.1:5555", "address of the server that is started here", "address"),
    a.Argument("instruction", "put the red cube in the box", "what the policy is told and the table is laid for"),
    a.Argument("seed", "0", "the twin's layout and the policy's noise", "int"),
    a.GUIDANCE,
    a.Argument("engage", "true", "hand the twin's arms to the policy at once", "bool"),
    a.RECORD,
    a.TRANSFORMS,
    a.NAMESPACE,
    a.SECONDS,
)


def build(values):
    """Twin, server, cameras and client, all at once; each waits for what it needs."""
    if not values["server"] and not values["bundle"]:
        raise ValueError("give bundle:=FOLDER, or server:=tcp://HOST:PORT of one that runs")
    frames, remove = y.mailboxes("yam-frames-")
    common = {"station": values["station"], "autostart": "activate"}
    client = y.node(
        "client",
        values,
        **common,
        rig="ros",
        server=values["server"] or values["bind"],
        server_timeout_s=120.0,
        instruction=values["instruction"],
        guidance=values["guidance"],
        seed=values["seed"],
        frames_dir=frames,
        on_activate="engage" if values["engage"] else "nothing",
    )
    return [
        *([] if values["server"] else y.policy_server(values["bundle"], values["bind"])),
        y.node("twin", values, **common, seed=values["seed"], instruction=values["instruction"]),
        y.node("cameras", values, **common, frames_dir=frames, from_topics=True),
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
