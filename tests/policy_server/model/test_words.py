from __future__ import annotations

import numpy as np
import pytest

from contract.errors import VocabularyError
from policy_server.model.presets import VOCABULARY
from policy_server.words import Words
from robot_client.twin.tasks import TASKS, WORDS

KNOWN = Words("words", ("put", "the", "cube", "in", "bin"), 5)


def test_words_are_numbered_from_one_and_padded_with_zero() -> None:
    assert KNOWN.tokens("put the cube").tolist() == [[1, 2, 3, 0, 0]]
    assert KNOWN.tokens("put the cube").dtype == np.int64


def test_case_punctuation_and_spacing_do_not_matter() -> None:
    assert np.array_equal(KNOWN.tokens("  Put the CUBE,  in. "), KNOWN.tokens("put the cube in"))


@pytest.mark.parametrize("empty", ["", "   ", "."])
def test_an_empty_instruction_is_the_null_instruction(empty: str) -> None:
    assert np.array_equal(KNOWN.tokens(empty), KNOWN.null())
    assert not KNOWN.null().any()


def test_unknown_words_are_refused_with_the_list_of_known_ones() -> None:
    with pytest.raises(VocabularyError) as caught:
        KNOWN.tokens("put the banana in the banana tree")
    assert caught.value.got == "banana, tree"
    for word in KNOWN.vocabulary:
        assert word in caught.value.expected


def test_an_instruction_one_word_too_long_is_refused_and_never_cut() -> None:
    """B47: a prompt of max + 1 words used to be cut off without a word."""
    assert KNOWN.tokens("put the cube in bin").all()
    with pytest.raises(VocabularyError, match="at most 5 words, got 6"):
        KNOWN.tokens("put the cube in the bin")


def test_cached_sentences_are_matched_whole() -> None:
    cached = Words("cached", ("Fold the towel.", "Put it down"), 1)
    assert cached.tokens(" Put it down ").tolist() == [[2]]
    assert cached.tokens("").tolist() == [[0]]
    with pytest.raises(VocabularyError, match="stored embedding"):
        cached.tokens("Fold")


def test_the_tiny_policys_vocabulary_is_exactly_the_twins() -> None:
    assert set(VOCABULARY) == set(WORDS)
    policy = Words("words", VOCABULARY, 12)
    rows = {policy.tokens(task.instruction).tobytes() for task in TASKS}
    assert len(rows) == len(TASKS) == 16
