"""Outcomes of trials, written line by line, so that what was tried is not tried again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from training.evaluate.rollout import Outcome
from training.evaluate.suite import Trial
from training.progress import Progress


def fill(
    path: Path, chosen: Sequence[Trial], attempt: Callable[[Trial], Outcome], what: str, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """All outcomes in the file, after those of the chosen trials that were missing were attempted and added."""
    done = read_outcomes(path)
    known = {(line["object"], line["receptacle"], line["seed"]) for line in done}
    missing = [t for t in chosen if (t.task.object, t.task.receptacle, t.seed) not in known]
    progress = Progress(len(missing), what=what, say=say)
    path.parent.mkdir(parents=True, exist_ok=True)
    for trial in missing:
        done.append(attempt(trial).line())
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(done[-1]) + "\n")
        progress.step()
    return done


def read_outcomes(path: Path) -> list[dict[str, Any]]:
    """Lines written so far."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
