"""`yam-robot bench ...`. Each command imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import tyro

bench = tyro.extras.SubcommandApp()


@bench.command
def loop(
    json: Path = Path("out/bench/loop.json"),
    windows: int = 10,
    seconds: float = 20.0,
    threads: int = 2,
    bundle: Path | None = None,
    quick: bool = False,
    rig: Literal["ideal", "yam"] = "ideal",
    hz: float = 100.0,
) -> None:
    """Compare the control loop's lateness with a bare sleep loop beside a busy server.

    Args:
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


@bench.command
def latency(
    rig: Literal["sim", "ideal", "yam"] = "sim",
    seconds: float = 40.0,
    server: str = "",
    station: str = "",
    instruction: str = "put the red cube in the bin",
    bundle: Path | None = None,
    start_every_s: float = 4.0,
    seed: int = 0,
    json: Path = Path("out/bench/latency.json"),
    openpi: bool = False,
    compare: tuple[Path, Path] | None = None,
) -> None:
    """Time from light to motor, stage by stage, on one clock; a table, a JSON file and a picture beside it.

    Args:
        rig: sim (the twin), ideal (arms that do exactly what they are told) or yam; without --station yam means the
            example station on EMULATED motors.
        seconds: length of the measurement.
        server: address of a running policy server; without it one is served from the bundle.
        station: name of a shipped station or path of a station file.
        instruction: what the policy is told.
        bundle: folder with policy.toml; default: the one in the repository.
        start_every_s: the arms are held and engaged anew after this time in POLICY, so that they start from rest.
        seed: the twin's layout, and the policy's noise.
        json: file for the results.
        openpi: also the payload sweep, with openpi's public client in an environment of its own (.venv-openpi).
        compare: measure nothing; show two result files beside each other.
    """
    from robot_client.demo.command import default_bundle
    from robot_client.last_words import arms_named_last
    from robot_client.latency import command
    from robot_client.latency.settings import LatencySettings

    if compare is not None:
        command.compare_files(compare)
        return
    settings = LatencySettings(
        rig=rig,
        station=station or ("" if rig == "yam" else "twin"),
        server=server,
        bundle=bundle or default_bundle(),
        instruction=instruction,
        seconds=seconds,
        start_every_s=start_every_s,
        seed=seed,
        out=json.parent / "latency",
    )
    with arms_named_last(rig if station else "", station, print):
        result = command.bench_latency(settings)
        if openpi:
            from robot_client.payload.command import add_payload, bench_payload

            add_payload(result, bench_payload())
        picture = command.write(result, json)
        command.show(result)
        print(f"written to {json}" + (f" and {picture}" if picture else ""))


@bench.command
def payload(
    json: Path = Path("out/bench/payload.json"),
    calls: int = 100,
    policy_ms: float = 20.0,
    far_ms: float = 2.0,
    openpi: bool = True,
) -> None:
    """Round trips by image size, near and far, beside openpi's public client; what JPEG would cost.

    Args:
        json: file for the results.
        calls: round trips of each kind, size and distance.
        policy_ms: what the pretended policy takes, on both sides.
        far_ms: extra time each way in a proxy that stands for a network; 0 = only near.
        openpi: compare with openpi's client, which is installed in an environment of its own (.venv-openpi).
    """
    from robot_client.payload.command import bench_payload, show_payload, write_payload
    from robot_client.payload.sweep import Plan

    result = bench_payload(Plan(calls, policy_ms, far_ms), openpi)
    write_payload(result, json)
    show_payload(result)
    print(f"written to {json}")


@bench.command
def episodes(
    json: Path = Path("out/bench/episodes.json"), seconds: float = 24.0, windows: int = 5, window_s: float = 10.0
) -> None:
    """What recording costs, what it does to the loop's lateness, and how fast an episode is read.

    Args:
        json: file for the results.
        seconds: length of the recording.
        windows: windows of the loop with a recorder and without, in turns; 0 = none.
        window_s: length of a window.
    """
    from robot_client.bench.episodes import Plan, bench_episodes

    bench_episodes(json, Plan(seconds, windows, window_s))
