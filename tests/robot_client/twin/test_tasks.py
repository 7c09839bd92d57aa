"""The instruction grammar and the compositional splits."""

from __future__ import annotations

import pytest

from contract.errors import VocabularyError
from robot_client.twin.tasks import OBJECTS, RECEPTACLES, TASKS, WORDS, held_out, parse, seen


def test_every_pair_has_a_sentence_that_parses_back() -> None:
    assert len(TASKS) == len(OBJECTS) * len(RECEPTACLES) >= 16
    assert [parse(f"  {task.instruction.upper()} ") for task in TASKS] == list(TASKS)
    assert {word for task in TASKS for word in task.instruction.split()} == set(WORDS)


@pytest.mark.parametrize(
    "said", ["", "put the red cube on the bin", "put the red cube", "throw the red cube in the bin"]
)
def test_other_sentences_are_refused_with_what_would_have_worked(said: str) -> None:
    with pytest.raises(VocabularyError, match=r"put the OBJECT.*yellow brick.*on the plate"):
        parse(said)


def test_rotations_hide_each_object_and_receptacle_once_and_cover_all_pairs() -> None:
    for rotation in range(4):
        hidden = held_out(rotation)
        assert sorted(task.object for task in hidden) == sorted(OBJECTS)
        assert sorted(task.receptacle for task in hidden) == sorted(RECEPTACLES)
        assert set(hidden) | set(seen(rotation)) == set(TASKS)
    assert len({task for rotation in range(4) for task in held_out(rotation)}) == len(TASKS)
