"""Order, seal, rates."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.errors import ConfigurationError
from robot_client.trial.errors import TrialError
from robot_client.trial.plan import NAME, checked_methods, new_trial, read_trial, write_trial
from robot_client.trial.rate import paired, wilson
from robot_client.trial.sealed import seal, unseal
from tests.robot_client.trial.folder import identity, question, trial_in


@given(st.integers(1, 30), st.integers(0, 1000))
def test_every_method_runs_once_on_every_layout_and_layouts_come_in_turn(rounds: int, seed: int) -> None:
    asked = question(rounds=rounds, methods=("off", "constant", "adaptive"))
    runs = new_trial(asked, identity(), random.Random(seed)).runs()
    assert [run.number for run in runs] == list(range(3 * rounds))
    assert [run.round for run in runs] == [number // 3 for number in range(3 * rounds)]
    for number in range(rounds):
        block = runs[3 * number : 3 * number + 3]
        assert {run.method for run in block} == {"off", "constant", "adaptive"}
        assert {run.seed for run in block} == {40 + number}, "the same layout and noise for all"


def test_the_order_differs_from_trial_to_trial_and_no_method_is_always_first() -> None:
    asked = question(rounds=40)
    orders = [[run.method for run in new_trial(asked, identity(), random.Random(seed)).runs()] for seed in range(3)]
    assert orders[0] != orders[1] != orders[2]
    first = [orders[0][2 * number] for number in range(40)]
    assert 8 < first.count("off") < 32


def test_the_order_cannot_be_read_in_the_file(tmp_path: Path) -> None:
    trial = trial_in(tmp_path)
    text = (tmp_path / NAME).read_text()
    assert trial.sealed_order in text
    assert text.count("adaptive") == text.count('"off"') == 1, "only in the question"
    assert read_trial(tmp_path).runs() == trial.runs()


@given(st.lists(st.permutations(["off", "constant"]), min_size=1, max_size=9), st.text(min_size=1, max_size=9))
def test_a_seal_opens_to_what_was_sealed(order: list[list[str]], nonce: str) -> None:
    text, digest = seal(order, nonce)
    assert unseal(text, digest, nonce) == order


def test_a_changed_order_is_refused(tmp_path: Path) -> None:
    trial = trial_in(tmp_path)
    other = new_trial(question(), identity(), random.Random(2))
    broken = trial.model_copy(update={"sealed_order": other.sealed_order})
    (tmp_path / NAME).write_text(broken.model_dump_json())
    with pytest.raises(TrialError, match="sealed order"):
        read_trial(tmp_path)
    (tmp_path / NAME).write_text(trial.model_copy(update={"sealed_order": "no base64!"}).model_dump_json())
    with pytest.raises(TrialError, match="sealed order"):
        read_trial(tmp_path)


def test_a_trial_is_never_written_over(tmp_path: Path) -> None:
    trial = trial_in(tmp_path)
    with pytest.raises(TrialError, match="another folder"):
        write_trial(tmp_path, new_trial(question(), identity()))
    assert read_trial(tmp_path) == trial


@pytest.mark.parametrize("text", ["off", "off,off", "off,sometimes", "", "off,,"])
def test_methods_are_two_or_more_known_ones(text: str) -> None:
    with pytest.raises(ConfigurationError, match="methods"):
        checked_methods(text)


def test_wilsons_interval_is_the_published_one() -> None:
    """Newcombe 1998: 81 of 263 gives 0.2553 .. 0.3662."""
    rate = wilson(81, 263)
    assert (rate.low, rate.high) == pytest.approx((0.2553, 0.3662), abs=1e-4)


def test_paired_differences_count_only_layouts_where_the_methods_differ() -> None:
    first = [True] * 12 + [False] * 8
    second = [True] * 6 + [False] * 6 + [True] + [False] * 7
    pair = paired(first, second)
    assert (pair.layouts, pair.only_first, pair.only_second, pair.difference) == (20, 6, 1, 0.25)
    assert pair.p_value == pytest.approx(2 * (1 + 7) / 2**7)
    assert pair.low < pair.difference < pair.high
    assert paired(second, first).low == pytest.approx(-pair.high)
    assert paired([True], [True]).p_value == 1.0


def test_the_paired_interval_is_that_of_bonett_and_price() -> None:
    """By hand for 20 pairs, 6 and 1: shares 7/22 and 2/22, difference 5/22."""
    pair = paired([True] * 6 + [False] * 14, [False] * 6 + [True] + [False] * 13)
    half = 1.959964 * ((7 / 22 + 2 / 22 - (5 / 22) ** 2) / 22) ** 0.5
    assert (pair.low, pair.high) == pytest.approx((5 / 22 - half, 5 / 22 + half))
