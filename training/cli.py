"""`yam-train`: demonstrations, training, publishing, evaluation and its analysis."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import tyro

from contract.errors import StackError
from robot_client.twin import gl

File = Annotated[Path, tyro.conf.Positional]


def demonstrations(settings: File, workers: int = os.cpu_count() or 1) -> None:
    """Make the demonstrations of a settings file; what is there is kept.

    Args:
        settings: TOML file, see training/configs/demonstrations.toml.
        workers: processes.
    """
    from contract.toml import read_toml
    from training.data.demonstrations import make_demonstrations
    from training.data.settings import DataSettings

    make_demonstrations(DataSettings.model_validate(read_toml(settings)), workers, _say)


def import_episodes(
    paths: Annotated[tuple[Path, ...], tyro.conf.Positional], out: Path, size: str = "grasper", stride: int = 1
) -> None:
    """Recorded episodes of any layout (LeRobot, ABC-130k, rosbag2, ours) as training data; what is there is kept.

    Args:
        paths: episodes, datasets, or folders of such.
        out: data folder to name in a run's file.
        size: model size whose canvas is made.
        stride: tenths of a second between two pictures: 1, 2 or 4; a Cosmos model needs 1.
    """
    from training.data.imported import import_episodes as make

    make(paths, out, size, stride, _say)


def run(file: File, out: Path = Path("out/train"), threads: int = 1) -> None:
    """Train the run of a file, or go on where it was stopped.

    Args:
        file: TOML file, see training/configs.
        out: the run gets a folder of its name in here.
        threads: CPU threads.
    """
    import torch

    from training.run import read_run
    from training.start import train

    torch.set_num_threads(threads)
    chosen = read_run(file)
    _say(f"checkpoint: {train(chosen, out / chosen.name, command(), _say)}")


def publish(checkpoint: File, bundle: File) -> None:
    """Export a checkpoint as a bundle that the server serves.

    Args:
        checkpoint: folder of a run, out/train/NAME/checkpoint.
        bundle: folder to write; an existing bundle there is replaced.
    """
    from training.publish import publish as export

    export(checkpoint, bundle, _say)


def strength(bundle: File, w_max: float) -> None:
    """Make adaptive guidance of a strength the bundle's default; choose it on seen pairs (evaluate --guidance).

    Args:
        bundle: bundle folder.
        w_max: largest scale, of language and plan guidance alike; 0 = none.
    """
    from training.publish import set_strength

    guidance = set_strength(bundle, w_max).guidance
    _say(f"{bundle}: guidance {guidance.mode}, scales up to {guidance.w_lang_max:g}")


def evaluate(
    bundle: File,
    rotation: int = 0,
    per_pair: int = 10,
    ood_per_pair: int | None = None,
    first_seed: int = 0,
    futures: tuple[str, ...] = ("kept", "masked", "swapped"),
    splits: tuple[str, ...] = ("id", "ood"),
    guidance: tuple[str, ...] = ("off",),
    w_max: tuple[float, ...] = (),
    probe: bool = False,
    client: bool = False,
    out: Path = Path("out/evaluate"),
    note: bool = False,
    calibrate: bool = False,
) -> None:
    """Try a bundle on the twin, closed loop, and print success with intervals.

    Args:
        bundle: bundle folder, or a run's checkpoint folder (on torch, slower; nothing can be noted in it).
        rotation: which pairs are held out; must be the one it was trained with.
        per_pair: layouts per pair.
        ood_per_pair: layouts per held-out pair, if not as many.
        first_seed: seed of the first layout; the same seeds are used for every bundle and method.
        futures: what the head is shown of the imagined future: kept, masked, swapped (another instruction's), moved
            (another moment's), reworded (imagined in this very scene under another instruction; notes which one, and
            whether that was done instead).
        splits: id (seen pairs), ood (held-out pairs).
        guidance: off, constant, adaptive, inverted; all but off with the future kept only.
        w_max: largest guidance scales to try instead of the bundle's.
        probe: note at each replan what masking and swapping its future would change (three times the time).
        client: through the robot client's own planner, loop and safety in simulated time, with the twin station's
            limits: what a run does, three times as slow.
        out: folder for the outcomes; what is there is not tried again.
        note: write the TR calibration (from future kept, id) and the scores into the bundle's manifest.
        calibrate: write the TR calibration alone, from layouts that no score is of.
    """
    from training.evaluate.command import evaluate_bundle
    from training.evaluate.wanted import Wanted

    wanted = Wanted(rotation, per_pair, ood_per_pair, first_seed, futures, splits, guidance, w_max, probe, client)
    evaluate_bundle(bundle, wanted, out, _say, note, calibrate)


def imagine(
    bundle: File,
    rotation: int = 0,
    per_pair: int = 0,
    ood_per_pair: int = 10,
    first_seed: int = 1000,
    films: int = 8,
    passes: int = 1,
    out: Path = Path("out/imagined"),
) -> None:
    """Judge what a policy imagines against what the expert would do in the same scene, and film it.

    Args:
        bundle: bundle folder, or a run's checkpoint folder.
        rotation: which pairs are held out.
        per_pair: layouts per seen pair.
        ood_per_pair: layouts per held-out pair.
        first_seed: seed of the first layout.
        films: most films, of held-out pairs.
        passes: from noise to the imagined picture; 1 = the mean of what is expected, many = a sample.
        out: folder for imagined.jsonl and the films.
    """
    from training.evaluate.wanted import Wanted
    from training.imagination.command import imagine as judge_and_film

    judge_and_film(bundle, Wanted(rotation, per_pair, ood_per_pair, first_seed), out, films, _say, passes)


def analyse(raw: Path = Path("docs/results/raw"), out: Path = Path("docs/results")) -> None:
    """Statistics and the results page from stored raw outcomes; needs neither policy nor twin.

    Args:
        raw: folder of raw results, see its README.md.
        out: where index.html and results.json go.
    """
    from training.analyse.command import analyse_results

    analyse_results(raw, out, _say)


def command() -> str:
    """The command line, as a manifest states it."""
    return shlex.join(["yam-train", *sys.argv[1:]])


def _say(line: str) -> None:
    print(line, flush=True)


def main() -> int:
    """Entry point of `yam-train`; errors of a user are one line."""
    gl.choose()
    try:
        tyro.extras.subcommand_cli_from_dict(
            {
                "demonstrations": demonstrations,
                "import": import_episodes,
                "run": run,
                "publish": publish,
                "strength": strength,
                "evaluate": evaluate,
                "imagine": imagine,
                "analyse": analyse,
            }
        )
    except StackError as error:
        print(f"yam-train: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        said = "the disk is full: free some space" if error.errno == errno.ENOSPC else "check the path"
        print(f"yam-train: {error}; {said} and give the same command again", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
