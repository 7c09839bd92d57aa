"""The commands of `yam-robot`: demo, run, bench, episode. Each imports what it needs when it runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import tyro

from contract.types import GuidanceMode
from robot_client.bench.command import bench
from robot_client.episodes.command import episode
from robot_client.faults.command import faults
from robot_client.run_over import RunOver
from robot_client.soak.command import soak

app = tyro.extras.SubcommandApp()
app.command(bench, name="bench", help="Measure the robot side.")
app.command(faults)
app.command(soak)
app.command(episode, name="episode", help="Look at, repair and replay recorded episodes.")


@app.command
def demo(
    seconds: float = 40.0,
    instruction: str = "",
    headless: bool = False,
    seed: int = 0,
    guidance: GuidanceMode = "adaptive",
    bundle: Path | None = None,
    out: Path = Path("out/demo"),
    imagine_every_s: float = 3.0,
    record: Path | None = None,
    record_codec: Literal["jpeg", "h264"] = "jpeg",
    inject: str = "",
    cameras: tuple[str, ...] = (),
) -> None:
    """The main job on the twin: its cameras through the policy to its arms, with a live view, a report and a film.

    Args:
        seconds: length from engagement; 0 = until Ctrl-C.
        instruction: "put the OBJECT in/on the RECEPTACLE"; empty = what the seed's layout is about.
        headless: a line now and then instead of the live view.
        seed: which layout, and the policy's noise.
        guidance: off, constant, adaptive (set from the Temporal Ratio) or inverted (a control experiment).
        bundle: folder with policy.toml; default: the one in the repository.
        out: where report.html, twin.mp4, replans.jsonl and logs go.
        imagine_every_s: seconds between two looks at what the policy imagines; 0 = never.
        record: folder of episodes; this run becomes the next one (docs/episodes.md).
        record_codec: jpeg, or h264 (about a tenth of the size) for the full-rate camera frames of the episode.
        inject: faults to rehearse, for example nan@5s,kill-server@8s (docs/faults.md).
        cameras: ROLE=CAMERA of the twin for any role of the policy; cameras that it leaves out are not used.
    """
    from robot_client.demo.choice import parse_cameras
    from robot_client.demo.command import default_bundle, run_demo
    from robot_client.demo.settings import RunSettings

    settings = RunSettings(
        rig="sim",
        station="twin",
        bundle=bundle or default_bundle(),
        server="",
        instruction=instruction,
        seconds=seconds,
        seed=seed,
        guidance=guidance,
        out=out,
        headless=headless,
        imagine_every_s=imagine_every_s,
        record=record,
        record_codec=record_codec,
        inject=inject,
        leader="keyboard",
        cameras=parse_cameras(cameras),
    )
    raise RunOver(run_demo(settings))


@app.command
def run(
    server: str = "",
    instruction: str = "",
    rig: Literal["sim", "ideal", "yam"] = "sim",
    station: str = "twin",
    seconds: float = 0.0,
    seed: int = 0,
    guidance: GuidanceMode = "adaptive",
    out: Path = Path("out/run"),
    headless: bool = False,
    record: Path | None = None,
    record_codec: Literal["jpeg", "h264"] = "jpeg",
    keys: Path | None = None,
    bundle: Path | None = None,
    inject: str = "",
    cameras: tuple[str, ...] = (),
    leader: Literal["keyboard", "scripted", "gello", "yam", "none"] = "keyboard",
) -> None:
    """Run a policy on a rig of this machine: one that is already served, or a bundle.

    Args:
        server: address of the policy server, for example tcp://127.0.0.1:5555.
        instruction: what the policy is told.
        rig: sim (the twin), ideal (arms that do exactly what they are told) or yam (real arms, already held by
            `yam-robot arms start`).
        station: name of a shipped station or path of a station file.
        seconds: length from engagement; 0 = until Ctrl-C.
        seed: the twin's layout, and the policy's noise.
        guidance: off, constant, adaptive or inverted.
        out: where report, film and logs go.
        headless: a line now and then instead of the live view.
        record: folder of episodes; this run becomes the next one (docs/episodes.md).
        record_codec: jpeg, or h264 (about a tenth of the size) for the full-rate camera frames of the episode.
        keys: folder of CURVE keys that `yam-policy keys` made for this robot.
        bundle: folder of a policy to serve for this run, instead of --server.
        inject: faults to rehearse on sim and ideal, for example
            drop=0.05,delay=80ms±40,freeze=camera:left@3s,nan@5s,kill-server@8s (docs/faults.md).
        cameras: ROLE=SOURCE for any role: SOURCE is a camera of the station, or, on rig yam, a device such as
            v4l2:/dev/v4l/by-id/..., realsense:SERIAL, file:VIDEO or pattern:NAME.
        leader: what takes over when a person presses t (docs/modes.md); keys work where there is a terminal.
    """
    from robot_client.demo.choice import parse_cameras
    from robot_client.demo.command import run_demo
    from robot_client.demo.settings import RunSettings

    settings = RunSettings(
        rig=rig,
        station=station,
        bundle=bundle,
        server=server,
        instruction=instruction,
        seconds=seconds,
        seed=seed,
        guidance=guidance,
        out=out,
        headless=headless,
        imagine_every_s=0.0,
        record=record,
        record_codec=record_codec,
        keys=keys,
        inject=inject,
        leader=None if leader == "none" else leader,
        cameras=parse_cameras(cameras),
    )
    raise RunOver(run_demo(settings))


@app.command
def trial(
    act: Annotated[Literal["run", "report"], tyro.conf.Positional] = "run",
    folder: Annotated[Path, tyro.conf.Positional] = Path("out/trial"),
    methods: str | None = None,
    rounds: int | None = None,
    seconds: float | None = None,
    seed: int | None = None,
    instruction: str | None = None,
    rig: Literal["sim", "ideal", "yam"] | None = None,
    station: str | None = None,
    server: str = "",
    bundle: Path | None = None,
    keys: Path | None = None,
    unfinished: bool = False,
) -> None:
    """A blinded, randomised comparison of guidance methods; started again, it goes on where it is (docs/trials.md).

    Args:
        act: run (begin or go on) or report.
        folder: of the trial; everything lies in it.
        methods: guidance methods, by commas (off,constant,adaptive); each runs once on every layout, in hidden order.
        rounds: layouts (10).
        seconds: longest run (40).
        seed: of the first layout (0).
        instruction: what the policy is told; empty on the twin: what each layout is about.
        rig: sim (judges itself), ideal or yam (the operator judges with y and n).
        station: name of a shipped station or path of a station file (twin).
        server: address of a running policy server; without it one is served from the bundle.
        bundle: folder with policy.toml; default: the one in the repository.
        keys: folder of CURVE keys that `yam-policy keys` made for this robot.
        unfinished: report before all runs are done; this opens the order and ends the trial.
    """
    from robot_client.trial.command import Wishes, run_trial, show_report

    if act == "report":
        sys.exit(show_report(folder, unfinished))
    wishes = Wishes(methods, rounds, seconds, seed, instruction, rig, station)
    sys.exit(run_trial(folder, wishes, server, bundle, keys))
