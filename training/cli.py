"""`yam-train`: demonstrations, training, publishing, evaluation and its analysis."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Annotated

import tyro

from contract.errors import StackError
from robot_client.twin import gl
from training.said import command, say
from training.trials import clone, evaluate, imagine

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

    make_demonstrations(DataSettings.model_validate(read_toml(settings)), workers, say)


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

    make(paths, out, size, stride, say)


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
    say(f"checkpoint: {train(chosen, out / chosen.name, command(), say)}")


def publish(checkpoint: File, bundle: File) -> None:
    """Export a checkpoint as a bundle that the server serves.

    Args:
        checkpoint: folder of a run, out/train/NAME/checkpoint.
        bundle: folder to write; an existing bundle there is replaced.
    """
    from training.publish import publish as export

    export(checkpoint, bundle, say)


def strength(bundle: File, w_max: float) -> None:
    """Make adaptive guidance of a strength the bundle's default; choose it on seen pairs (evaluate --guidance).

    Args:
        bundle: bundle folder.
        w_max: largest scale, of language and plan guidance alike; 0 = none.
    """
    from training.publish import set_strength

    guidance = set_strength(bundle, w_max).guidance
    say(f"{bundle}: guidance {guidance.mode}, scales up to {guidance.w_lang_max:g}")


def analyse(raw: Path = Path("docs/results/raw"), out: Path = Path("docs/results")) -> None:
    """Statistics and the results page from stored raw outcomes; needs neither policy nor twin.

    Args:
        raw: folder of raw results, see its README.md.
        out: where index.html and results.json go.
    """
    from training.analyse.command import analyse_results

    analyse_results(raw, out, say)


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
                "clone": clone,
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
