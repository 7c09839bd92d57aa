"""A recorded episode on the twin, which starts by itself, or on real arms, where a person calls ~/replay."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import yam_arguments as a
import yam_launch as y

ARGUMENTS = (
    a.Argument("episode", None, "episode folder or .mcap", "file"),
    a.Argument("rig", "twin", "which arms replay it", choices=("twin", "arms")),
    a.STATION,
    a.Argument("speed", "1.0", "1 = as fast as it was, or slower", "float"),
    a.Argument("seed", "0", "the twin's layout", "int"),
    a.Argument("run_dir", "", "mailbox folder of the arms' holders; empty: the station's own", "folder"),
    a.RECORD,
    a.TRANSFORMS,
    a.NAMESPACE,
    a.SECONDS,
)


def build(values):
    """No policy server is asked for anything."""
    if not 0.0 < values["speed"] <= 1.0:
        raise ValueError(f"argument speed:={values['speed']:g}: expected above 0, at most 1")
    twin = values["rig"] == "twin"
    client = y.node(
        "client",
        values,
        autostart="activate" if twin else "configure",
        station=values["station"],
        rig="ros" if twin else "yam",
        run_dir="" if twin else values["run_dir"],
        episode=values["episode"],
        episode_speed=values["speed"],
        on_activate="replay" if twin else "nothing",
    )
    simulated = [y.node("twin", values, autostart="activate", station=values["station"], seed=values["seed"])]
    return [
        *(simulated if twin else []),
        client,
        *y.transforms(values),
        *y.recorder(values),
        y.ends_all(client),
        *y.ends_after(values["seconds"]),
    ]


def generate_launch_description():
    """For `ros2 launch`."""
    return y.describe(ARGUMENTS, build)
