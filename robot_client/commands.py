"""The commands of `yam-robot`: demo, run, bench, episode. Each imports what it needs when it runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import tyro

from contract.types import GuidanceMode
from robot_client.episodes.command import episode

app = tyro.extras.SubcommandApp()
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
    """
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
    )
    sys.exit(run_demo(settings))


@app.command
def run(
    server: str,
    instruction: str,
    rig: Literal["sim", "ideal", "yam"] = "sim",
    station: str = "twin",
    seconds: float = 0.0,
    seed: int = 0,
    guidance: GuidanceMode = "adaptive",
    out: Path = Path("out/run"),
    headless: bool = False,
    record: Path | None = None,
    keys: Path | None = None,
) -> None:
    """Run a policy that is already served, on a rig of this machine.

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
        keys: folder of CURVE keys that `yam-policy keys` made for this robot.
    """
    from robot_client.demo.command import run_demo
    from robot_client.demo.settings import RunSettings

    settings = RunSettings(
        rig=rig,
        station=station,
        bundle=None,
        server=server,
        instruction=instruction,
        seconds=seconds,
        seed=seed,
        guidance=guidance,
        out=out,
        headless=headless,
        imagine_every_s=0.0,
        record=record,
        keys=keys,
    )
    sys.exit(run_demo(settings))


@app.command
def bench(
    what: Annotated[Literal["loop"], tyro.conf.Positional],
    json: Path = Path("out/bench/loop.json"),
    windows: int = 10,
    seconds: float = 20.0,
    threads: int = 2,
    bundle: Path | None = None,
    quick: bool = False,
    rig: Literal["ideal", "yam"] = "ideal",
    hz: float = 100.0,
) -> None:
    """Measure the robot side: `loop` compares the control loop's lateness with a bare sleep loop beside a busy server.

    Args:
        what: which benchmark.
        json: file for the results.
        windows: windows of each kind, alternating.
        seconds: length of a window.
        threads: engine threads of the busy server.
        bundle: what the busy server serves; default: the one in the repository.
        quick: two short windows, to see that it works; its numbers prove nothing.
        rig: ideal, or yam: two holders on emulated motors, driven by the real driver.
        hz: rate of the loop.
    """
    from robot_client.bench.loop import Plan, bench_loop
    from robot_client.demo.command import default_bundle

    bench_loop(json, Plan(windows, seconds, threads, rig, hz), bundle or default_bundle(), quick)
