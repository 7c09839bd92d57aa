"""`yam-robot teleop`: a person's hand drives, with no policy."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from robot_client.arm_commands import app
from robot_client.run_over import RunOver
from robot_client.teleop.leader import LeaderKind

__all__ = ["app"]


@app.command
def teleop(
    leader: LeaderKind = "keyboard",
    rig: Literal["sim", "ideal", "yam"] = "sim",
    station: str = "twin",
    seconds: float = 0.0,
    seed: int = 0,
    out: Path = Path("out/teleop"),
    headless: bool = False,
    instruction: str = "",
    record: Path | None = None,
) -> None:
    """Drive the arms by hand: keys t, [ and ] hand both arms or one to the leader, h holds, k parks, q ends.

    Where nobody can type (--headless, or no terminal) the leader is handed both arms at once.

    Args:
        leader: keyboard (jogging), scripted (swings slowly by itself), gello (encoders) or yam (a YAM with motors).
        rig: sim (the twin), ideal (arms that do exactly what they are told) or yam (real arms, already held by
            `yam-robot arms start`).
        station: name of a shipped station or path of a station file.
        seconds: length; 0 = until Ctrl-C.
        seed: the twin's layout.
        out: where report, film and logs go.
        headless: a line now and then instead of the live view.
        instruction: what is being done, for the recording.
        record: folder of episodes; this run becomes the next one (docs/episodes.md).
    """
    from robot_client.demo.command import run_demo
    from robot_client.demo.settings import RunSettings

    settings = RunSettings(
        rig=rig,
        station=station,
        bundle=None,
        server="",
        instruction=instruction,
        seconds=seconds,
        seed=seed,
        guidance="off",
        out=out,
        headless=headless,
        imagine_every_s=0.0,
        record=record,
        leader=leader,
        teleop_only=True,
    )
    raise RunOver(run_demo(settings))
