"""`python -m training.circle`: the full circle with real processes, from recording to a run on the twin.

Twenty episodes of the scripted leader on the twin in the product's format; LeRobot v3 of them; a minute of training on
that; a bundle; `yam-robot demo` with it, recorded. It ends with 0 when the arms were moved in mode POLICY. A minute of
training teaches nobody to pick and place, and nothing of the kind is claimed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from contract.errors import StackError
from robot_client.twin import gl
from robot_client.twin.tasks import seen
from training.data.settings import TRAIN_SEEDS_FROM
from training.run import ActionLoss, Optimisation, Run

_FIRST_STEPS = 10
_ROTATION = 0
_DEMO_S = 120.0


@dataclass(frozen=True)
class Arguments:
    """How much of each."""

    out: Path = Path("out/circle")
    """Folder of everything; what was there is removed."""
    episodes: int = 20
    train_s: float = 60.0
    seconds: float = 8.0
    """Of the run on the twin."""


def circle(arguments: Arguments, say: Callable[[str], None]) -> float:
    """How far the arms were told to go in mode POLICY [rad]. Raises `StackError` for whatever goes wrong."""
    from robot_client.episodes.export import export_lerobot
    from training.data.imported import import_episodes
    from training.publish import publish

    out = arguments.out
    shutil.rmtree(out, ignore_errors=True)
    record(out / "episodes", arguments.episodes, say)
    export_lerobot([out / "episodes"], out / "dataset", 10.0, False, say)
    import_episodes([out / "dataset"], out / "data", "grasper", say=say)
    checkpoint = train_for(arguments.train_s, out, say)
    publish(checkpoint, out / "bundle", say)
    demo = [str(Path(sys.executable).with_name("yam-robot")), "demo", "--headless", "--bundle", str(out / "bundle")]
    demo += ["--seconds", f"{arguments.seconds:g}", "--record", str(out / "run"), "--out", str(out / "demo")]
    say(" ".join(demo))
    subprocess.run(demo, check=True, timeout=_DEMO_S + arguments.seconds)
    return driven_rad(out / "run")


def record(folder: Path, count: int, say: Callable[[str], None]) -> None:
    """Episodes of the scripted leader, each seen pair in turn, until so many succeeded.

    Held-out pairs give no actions; the only demonstration kept for validation, the first of twenty, must not be one.
    """
    from policy_server.model.presets import preset
    from robot_client.twin.cameras import Size
    from robot_client.twin.twin import make_twin
    from training.data.episodes import record_episode

    twin = make_twin({view.role: Size(view.width, view.height) for view in preset("grasper").canvas.views})
    tasks = seen(_ROTATION)
    done, seed = 0, TRAIN_SEEDS_FROM
    while done < count:
        path = folder / f"episode_{done:06d}"
        if record_episode(twin, seed, tasks[seed % len(tasks)], path):
            done += 1
            say(f"{path}: {tasks[seed % len(tasks)].instruction}")
        else:
            shutil.rmtree(path)
        seed += 1
    twin.close()


def train_for(seconds: float, out: Path, say: Callable[[str], None]) -> Path:
    """As many steps as the time allows, by the speed of the first few."""
    from training.start import train

    run = Run(
        name="circle", stage="action", data=(out / "data",), moment_every=1,
        optimisation=Optimisation(steps=10_000, batch=32), action=ActionLoss(joint_share=0.1),
        log_every=_FIRST_STEPS, rotation=_ROTATION,
    )  # fmt: skip
    begun = time.perf_counter()
    train(run, out / "train", "python -m training.circle", say, stop_at=_FIRST_STEPS)
    speed = json.loads((out / "train" / "log.jsonl").read_text(encoding="utf-8").splitlines()[-1])["steps_s"]
    left_s = max(seconds - (time.perf_counter() - begun), 0.0)
    return train(run, out / "train", "python -m training.circle", say, stop_at=_FIRST_STEPS + int(speed * left_s))


def driven_rad(folder: Path) -> float:
    """Way of the joint that was told to go farthest while the policy drove, in a recorded run."""
    from robot_client.episodes.formats.choose import episodes_at
    from robot_client.episodes.formats.entries import Driver, Joints

    driving, told = False, []
    for entry in episodes_at(folder)[-1].entries(()):
        if isinstance(entry, Driver):
            driving = entry.mode == "POLICY"
        elif driving and isinstance(entry, Joints) and entry.kind == "told":
            told.append(entry.values)
    return float(np.ptp(np.array(told), axis=0).max()) if told else 0.0


def main() -> int:
    """Entry point."""
    arguments = tyro.cli(Arguments, prog="python -m training.circle")
    gl.choose()
    begun = time.perf_counter()
    try:
        moved = circle(arguments, lambda line: print(f"{time.perf_counter() - begun:4.0f} s  {line}", flush=True))
    except StackError as error:
        print(f"circle: {error}", file=sys.stderr)
        return 2
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(f"circle: the run on the twin failed: {error}", file=sys.stderr)
        return 1
    print(f"mode POLICY moved the arms by {moved:.3f} rad; {time.perf_counter() - begun:.0f} s in all")
    return 0 if moved > 0.01 else 1


if __name__ == "__main__":
    sys.exit(main())
