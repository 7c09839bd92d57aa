"""What is imagined is judged by what the expert would really do in the same scene."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from robot_client.twin.cameras import Size
from robot_client.twin.tasks import Task
from robot_client.twin.twin import Twin, make_twin
from training.analyse.imagined import Imagined
from training.evaluate.rollout import Outcome
from training.evaluate.suite import Trial
from training.imagination.command import Imagination, imagine
from training.imagination.film import write_film
from training.imagination.filmed_trial import Footage
from training.imagination.truth import objects_after, receptacles_after
from training.imagination.verdict import likeness, nearest

TASK = Task("red cube", "box")


@pytest.fixture(scope="module")
def twin() -> Twin:
    return make_twin({"top": Size(64, 64)})


def canvas(value: int) -> np.ndarray:
    return np.full((64, 96, 3), value, np.uint8)


def changed(row: int, strength: int) -> np.ndarray:
    picture = canvas(100)
    picture[row : row + 8] += np.uint8(strength)
    return picture


def test_a_pale_imagination_is_of_what_it_goes_towards_and_not_of_what_moves_least() -> None:
    """By distance, averages of what may come were nearest to the future in which least moves."""
    possible = {"bin": changed(0, 100), "box": changed(40, 100), "bowl": changed(20, 2)}
    assert nearest((canvas(90), changed(40, 15) - np.uint8(10)), canvas(100), possible) == "box"
    assert nearest((canvas(100), changed(40, 15)), canvas(100), {"box": canvas(90)}) is None
    assert likeness((canvas(1), canvas(1)), (canvas(1), canvas(2))) == 0.0


def test_taking_one_object_or_another_looks_different_and_starts_alike(twin: Twin) -> None:
    layout = twin.reset(1000, TASK)
    before = twin.render("top")
    after = objects_after(twin, layout, 16, lambda: twin.render("top"))
    assert "red cube" in after and len(after) >= 2
    assert all(not np.array_equal(before, picture) for picture in after.values())
    assert len({picture.tobytes() for picture in after.values()}) == len(after)
    twin.reset(1000, TASK)
    assert np.array_equal(twin.render("top"), before)


def test_the_asked_job_is_looked_at_when_its_object_has_left_the_table(twin: Twin) -> None:
    layout = twin.reset(1000, TASK)
    heights = []
    after = receptacles_after(
        twin, layout, 16, lambda: twin.render("top"), lambda: heights.append(twin.world.body_position("red cube")[2])
    )
    assert len(heights) == 1 and heights[0] > 0.03
    assert "box" in after


def test_a_film_marks_a_failure_at_its_end_and_shows_every_row(tmp_path: Path) -> None:
    import av

    outcome = Outcome("ood", TASK.object, TASK.receptacle, 7)
    footage = Footage(
        Trial("ood", TASK, 7), [canvas(n) for n in range(20)], {0: canvas(5), 8: canvas(9)}, None, outcome
    )
    write_film(tmp_path / "a.mp4", footage, ahead=16)
    with av.open(str(tmp_path / "a.mp4")) as film:
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
    assert len(frames) == 20 + 12
    red = [int(frame[-2, ::8, 0].astype(int).mean() - frame[-2, ::8, 1].mean()) for frame in frames]
    assert red[-1] > 80 and abs(red[0]) < 30


@pytest.mark.parametrize("rows", [24])
def test_lines_and_films_of_the_shipped_policy_are_readable(
    tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.evaluate import rollout
    from training.evaluate.wanted import Wanted

    monkeypatch.setattr(rollout, "MOST_ROWS", rows)
    bundle = Path(__file__).parents[2] / "bundles" / "trained-foresight"
    monkeypatch.setattr(Wanted, "trials", lambda self: [Trial("ood", Task("red cube", "bin"), 1000)])
    imagine(bundle, Wanted(), tmp_path, 1, lambda line: None)
    lines = [Imagined.model_validate_json(line) for line in (tmp_path / "imagined.jsonl").read_text().splitlines()]
    assert len(lines) == 1 and not lines[0].executed_right and lines[0].objects >= 2
    assert lines[0].film == "red-cube-bin-1000-failed.mp4" and (tmp_path / lines[0].film).stat().st_size > 1000
    assert json.loads((tmp_path / "imagined.jsonl").read_text())["chunks"] == 10


def test_ten_chunks_are_imagined_from_the_first_picture_alone(twin: Twin) -> None:
    from training.imagination.filmed_trial import film_trial

    eye = Imagination(Path(__file__).parents[2] / "bundles" / "trained-foresight", 0, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.evaluate.rollout.MOST_ROWS", 9)
        footage = film_trial(eye.policy, eye.twin, Trial("ood", Task("red cube", "bin"), 1001), eye.picture, 10)
    assert footage.long is not None and len(footage.long) == 11
    assert np.array_equal(footage.imagined[0], footage.long[1])
    assert sorted(footage.imagined) == [0, 8] and len(footage.seen) == 17
