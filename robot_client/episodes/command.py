"""`yam-robot episode ...`. Each command imports what it needs when it runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from contract.types import GuidanceMode

if TYPE_CHECKING:
    from robot_client.episodes.recover import Saved

episode = tyro.extras.SubcommandApp()
Positional = Annotated[Path, tyro.conf.Positional]


@episode.command
def info(path: Positional) -> None:
    """What is in an episode of whichever layout, or in a folder or dataset of many; exit code 1 when one is incomplete.

    Args:
        path: rosbag2 folder or file, ABC-130k episode.mcap, LeRobot dataset (DATASET#3: its episode 3), or a folder of
            yam-abc-reproduce.
    """
    from rich.console import Console

    from robot_client.episodes.info_command import run_info

    sys.exit(run_info(path, Console(markup=False)))


@episode.command
def recover(path: Positional, out: Positional) -> None:
    """Save what can be read of a truncated or damaged episode into a new one; exit code 1 when anything is missing.

    Args:
        path: episode folder or .mcap file; it is not changed.
        out: new folder.
    """
    from robot_client.episodes.recover import recover as save

    sys.exit(_said(save(path, out), out))


@episode.command
def cut(path: Positional, out: Positional, start_s: float = 0.0, end_s: float = float("inf")) -> None:
    """Copy a piece of an episode into a new one.

    Args:
        path: episode folder or .mcap file; it is not changed.
        out: new folder.
        start_s: from here, counted from the first message.
        end_s: to here.
    """
    from robot_client.episodes.recover import cut as copy

    sys.exit(_said(copy(path, out, start_s, end_s), out))


@episode.command
def export(
    paths: Annotated[tuple[Path, ...], tyro.conf.Positional],
    out: Path,
    to: Literal["lerobot", "abc", "rosbag"] = "lerobot",
    rate_hz: float = 0.0,
    incomplete: bool = False,
) -> None:
    """Write episodes, of whichever layout, in another one.

    Args:
        paths: episodes, folders of episodes, or datasets.
        out: new folder.
        to: lerobot = a LeRobot v3 dataset for training: measured state, told action, control source and every camera at
            a fixed rate; abc = one episode.mcap each, as in ABC-130k; rosbag = one rosbag2 each, for every stock tool.
        rate_hz: frames per second of a LeRobot dataset; 0 = that of the fastest camera.
        incomplete: take incomplete episodes too.
    """
    from robot_client.episodes.export import Export
    from robot_client.episodes.export import export as write

    count = write(paths, to, Export(out, rate_hz, incomplete), print)
    print(f"{count} {'frames' if to == 'lerobot' else 'messages'} in {out} ({to})")


@episode.command(name="import")
def import_episodes(paths: Annotated[tuple[Path, ...], tyro.conf.Positional], out: Path) -> None:
    """Make episodes of ours of others' recordings; each becomes the next one in a folder of episodes.

    Args:
        paths: ABC-130k episodes, LeRobot datasets (DATASET#3: only episode 3), folders of yam-abc-reproduce, rosbag2.
        out: folder of episodes.
    """
    from robot_client.episodes.formats.choose import episodes_at
    from robot_client.episodes.import_episode import import_episode

    for path in paths:
        for source in episodes_at(path):
            print(f"{source.path} ({source.layout}) -> {import_episode(source, out)}")


@episode.command
def report(path: Positional, out: Path = Path("out/episode/report.html")) -> None:
    """Write one page about an episode, with its film inside: what the cameras saw beside what the policy imagined, TR
    and scales, stage times, joints asked, told and measured.

    Args:
        path: an episode of any layout; of others' there are only the film and the joints.
        out: the page; the film lies beside it as .mp4.
    """
    from robot_client.episodes.report_command import run_report

    run_report(path, out, print)


@episode.command
def view(path: Positional, save: Path | None = None, live: bool = False) -> None:
    """Look at an episode in Rerun: cameras, what the policy imagined, joints asked, told and measured, TR and scales.

    Args:
        path: an episode of any layout; with --live an episode being recorded, or the folder of episodes of --record.
        save: write a Rerun file instead of opening a window (for machines without a display).
        live: follow an episode that is being recorded, about a second behind, until it is closed.
    """
    from robot_client.episodes.view.command import run_view

    drawn = run_view(path, save, live)
    print(f"{drawn} messages{'' if save is None else f' in {save}'}")


@episode.command
def policy(
    path: Positional,
    server: str = "",
    bundle: Path | None = None,
    threads: int = 1,
    tolerance_rad: float = 1e-5,
    tolerance_tr: float = 1e-4,
    guidance: GuidanceMode | None = None,
    references: Path | None = None,
    accept: bool = False,
    out: Path = Path("out/episode/policy.json"),
) -> None:
    """Ask a policy every recorded question again and compare the answers; exit code 1 when one is outside.

    Args:
        path: episode folder or .mcap file.
        server: address of a running server.
        bundle: policy folder to serve for the time of the replay; default: the one in the repository.
        threads: of the engine of that server; the demo's has 1.
        tolerance_rad: largest allowed difference of any channel of any row.
        tolerance_tr: largest allowed relative difference of TR.
        guidance: ask with another guidance than was recorded, to see what it changes.
        references: file of accepted answers to compare with instead of the recorded ones.
        accept: write the answers to that file instead of comparing.
        out: JSON report.
    """
    from rich.console import Console

    from robot_client.demo.command import default_bundle
    from robot_client.episodes.policy_command import PolicyReplaySettings, run_policy_replay
    from robot_client.episodes.policy_report import Tolerance

    settings = PolicyReplaySettings(
        path=path,
        server=server,
        bundle=bundle if server or bundle else default_bundle(),
        threads=threads,
        tolerance=Tolerance(tolerance_rad, tolerance_tr),
        guidance=guidance,
        references=references,
        accepts=accept,
        out=out,
    )
    sys.exit(run_policy_replay(settings, Console()))


@episode.command
def replay(
    path: Positional,
    rig: Literal["sim", "ideal", "yam"] = "sim",
    station: str = "twin",
    speed: float = 1.0,
    seed: int = 0,
    out: Path = Path("out/episode"),
) -> None:
    """Run what the arms were told on a rig, eased in from where they stand; Ctrl-C brakes and holds.

    Args:
        path: episode folder or .mcap file with /joint_commands.
        rig: sim (the twin), ideal (arms that do exactly what they are told) or yam (real arms, held by their holders).
        station: name of a shipped station or path of a station file.
        speed: 1 = as fast as it was; slower is allowed, faster is not.
        seed: the twin's layout.
        out: where logs go.
    """
    from robot_client.episodes.replay_command import run_rig_replay
    from robot_client.episodes.rig_replay import RigReplaySettings

    sys.exit(run_rig_replay(RigReplaySettings(path, rig, station, speed, seed, out / "logs")))


def _said(saved: Saved, out: Path) -> int:
    print(f"saved {saved.messages} messages, {saved.seconds:.1f} s, to {out}")
    for line in saved.missing:
        print(f"missing: {line}")
    print("complete" if saved.complete else "INCOMPLETE, and marked so")
    return 0 if saved.complete else 1
