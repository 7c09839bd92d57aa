"""`yam-train imagine`: is the right pair imagined, is it done, and films of both."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contract.types import ImagineRequest
from policy_server.canvas import CanvasTiler
from policy_server.policy import Policy
from robot_client.twin.cameras import Size
from robot_client.twin.twin import Twin, make_twin
from training.analyse.cell import IMAGINED
from training.evaluate.rollout import observation
from training.evaluate.rotation import require_rotation
from training.evaluate.subject import open_subject
from training.evaluate.suite import Trial
from training.evaluate.wanted import Wanted
from training.imagination.film import write_film
from training.imagination.filmed_trial import film_trial
from training.imagination.truth import objects_after, receptacles_after
from training.imagination.verdict import Pictures, nearest

CHUNKS = 10


class Imagination:
    """A policy, a twin, and the pictures of both.

    `passes` from noise to a picture: one gives the mean of what the model expects, which is what a policy tapped at
    noise level 1 has before it; many give a sample.
    """

    def __init__(self, bundle: Path, rotation: int, passes: int) -> None:
        subject = open_subject(bundle)
        require_rotation(subject.manifest.provenance, rotation)
        video = subject.manifest.video.model_copy(update={"imagine_passes": passes})
        self.policy = Policy(subject.manifest.model_copy(update={"video": video}), subject.engine)
        canvas = subject.manifest.canvas
        self.twin: Twin = make_twin({view.role: Size(view.width, view.height) for view in canvas.views})
        self._tiler = CanvasTiler(canvas)
        self.ahead = (subject.manifest.video.pixel_frames - 1) // (subject.manifest.video.latent_frames - 1)
        """Rows from the current frame to the first imagined one."""

    def picture(self) -> NDArray[np.uint8]:
        """The canvas (Hc, Wc, 3) now."""
        self._tiler.fill({role: frame.image for role, frame in self.twin.frames().items()})
        return self._tiler.pixels[0].copy()

    def imagined(self, trial: Trial) -> tuple[Pictures, NDArray[np.uint8]]:
        """The present as the model draws it and what it imagines under the trial's instruction; and what is seen."""
        asked = observation(self.twin, trial, 0, np.zeros((0, 14)), "off")
        frames = self.policy.imagine(ImagineRequest(asked, 1)).frames
        return (frames[0], frames[1]), self.picture()

    def judged(self, trial: Trial) -> dict[str, Any]:
        """Which object is imagined to be taken from the start, and to which receptacle it goes once it is lifted."""
        layout = self.twin.reset(trial.seed, trial.task)
        first, lifted = self.imagined(trial), []
        objects = objects_after(self.twin, layout, self.ahead, self.picture)
        places = receptacles_after(
            self.twin, layout, self.ahead, self.picture, lambda: lifted.append(self.imagined(trial))
        )
        return {
            "object_imagined": nearest(*first, objects),
            "receptacle_imagined": nearest(*lifted[0], places) if lifted else None,
            "objects": len(objects),
            "receptacles": len(places),
        }


def imagine(bundle: Path, wanted: Wanted, out: Path, films: int, say: Callable[[str], None], passes: int = 1) -> None:
    """One line of `imagined.jsonl` a layout, and films of the first ones done and failed of each held-out pair."""
    eye = Imagination(bundle, wanted.rotation, passes)
    out.mkdir(parents=True, exist_ok=True)
    filmed: set[tuple[str, bool]] = set()
    lines = []
    for trial in wanted.trials():
        facts = eye.judged(trial)
        footage = film_trial(eye.policy, eye.twin, trial, eye.picture, CHUNKS)
        won = footage.outcome is not None and footage.outcome.success
        key, name = (trial.task.instruction, won), None
        if trial.split == "ood" and key not in filmed and len(filmed) < films:
            filmed.add(key)
            thing, place = (part.replace(" ", "-") for part in (trial.task.object, trial.task.receptacle))
            name = f"{thing}-{place}-{trial.seed}-{'done' if won else 'failed'}.mp4"
            write_film(out / name, footage, eye.ahead)
        lines.append(_line(trial, facts, won, name))
        say(json.dumps(lines[-1]))
    (out / IMAGINED).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    eye.policy.close()
    eye.twin.close()


def _line(trial: Trial, facts: dict[str, Any], won: bool, film: str | None) -> dict[str, Any]:
    told = (facts["object_imagined"], facts["receptacle_imagined"])
    right = None if None in told else told == (trial.task.object, trial.task.receptacle)
    return {
        "split": trial.split, "object": trial.task.object, "receptacle": trial.task.receptacle, "seed": trial.seed,
        "imagined_right": right, "executed_right": won, "chunks": CHUNKS if film else 1, "film": film, **facts,
    }  # fmt: skip
