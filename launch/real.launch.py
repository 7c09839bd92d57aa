"""Real arms: cameras and client. The arms must be held already (`yam-robot arms start`); the client comes up without
torque and stays so until a person activates it: docs/ros.md, "Bring-up"."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import yam_arguments as a
import yam_launch as y

ARGUMENTS = (
    a.Argument("station", None, "path of this station's own file", "station"),
    a.Argument("server", None, "address of the policy server", "address"),
    a.KEYS,
    a.INSTRUCTION,
    a.GUIDANCE,
    a.Argument("run_dir", "", "mailbox folder of the arms' holders; empty: the station's own", "folder"),
    a.Argument("devices", "", 'other cameras than the station\'s, as "ROLE=KIND:NAME ROLE=KIND:NAME"'),
    a.RECORD,
    a.TRANSFORMS,
    a.NAMESPACE,
    a.SECONDS,
)


def build(values):
    """No server is started here: it runs on its own machine and outlives this launch."""
    if not values["server"]:
        raise ValueError("give server:=tcp://HOST:PORT")
    frames, remove = y.mailboxes("yam-frames-")
    devices = values["devices"].split() or [""]
    client = y.node(
        "client",
        values,
        autostart="configure",
        station=values["station"],
        rig="yam",
        run_dir=values["run_dir"],
        server=values["server"],
        keys=values["keys"],
        instruction=values["instruction"],
        guidance=values["guidance"],
        frames_dir=frames,
    )
    return [
        y.node("cameras", values, autostart="activate", station=values["station"], frames_dir=frames, devices=devices),
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
