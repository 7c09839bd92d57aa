"""The subcommands of `yam-train` that try a policy on the twin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from training.said import command, say

File = Annotated[Path, tyro.conf.Positional]


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
    evaluate_bundle(bundle, wanted, out, say, note, calibrate)


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

    judge_and_film(bundle, Wanted(rotation, per_pair, ood_per_pair, first_seed), out, films, say, passes)


def clone(
    file: File,
    per_pair: int = 10,
    first_seed: int = 1000,
    out: Path = Path("out/train"),
    outcomes: Path = Path("out/evaluate"),
) -> None:
    """Train the baseline without video, pixels to rows, or go on; then try it.

    Args:
        file: TOML file, training/configs/cloning.toml.
        per_pair: layouts per pair.
        first_seed: seed of the first layout.
        out: the run gets a folder of its name in here.
        outcomes: folder for the outcomes; what is there is not tried again.
    """
    import torch

    from training.cloning.command import clone_and_try
    from training.evaluate.wanted import Wanted
    from training.run import read_run

    torch.set_num_threads(1)
    run = read_run(file)
    clone_and_try(run, Wanted(run.rotation, per_pair, first_seed=first_seed), out, outcomes, command(), say)
