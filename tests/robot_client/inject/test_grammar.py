"""The text of --inject: what it means, and one line for everything that it does not."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.errors import ConfigurationError
from robot_client.inject.checked import checked_faults
from robot_client.inject.fault import Fault
from robot_client.inject.grammar import EXAMPLE, parse, with_roles

ROLES = ("top", "left_wrist", "right_wrist")


def test_the_example_says_what_it_should() -> None:
    drop, delay, freeze, nan, kill = parse(EXAMPLE)
    assert (drop.kind, drop.value, drop.at_s, drop.length_s) == ("drop", 0.05, 0.0, math.inf)
    assert (delay.kind, delay.value, delay.spread) == ("delay", pytest.approx(0.08), pytest.approx(0.04))
    assert (freeze.kind, freeze.role, freeze.at_s, freeze.length_s) == ("freeze", "left", 3.0, math.inf)
    assert (nan.kind, nan.target, nan.at_s, nan.length_s) == ("nan", "", 5.0, 0.0)
    assert (kill.kind, kill.at_s) == ("kill-server", 8.0)


def test_lengths_units_and_the_ascii_sign() -> None:
    cut, delay, frozen, joints = parse("cut@500ms+1.5s, delay=0.1s+-50ms@2s+1s,freeze=server@1s,nan=joints@1s")
    assert (cut.at_s, cut.length_s) == (0.5, 1.5)
    assert (delay.value, delay.spread, delay.at_s, delay.length_s) == (0.1, pytest.approx(0.05), 2.0, 1.0)
    assert frozen.target == "server" and joints.target == "joints"
    assert parse("") == () == parse("  ")


@pytest.mark.parametrize(
    "text",
    [
        "drop", "drop=0", "drop=1.5", "drop=nan", "drop=x", "delay=80", "delay=80ms±90", "delay=-1s", "freeze=camera",
        "freeze=camera:@3s", "freeze=toaster@3s", "nan=left@3s", "kill-server=9", "kill@8s", "cut@soon", "cut@1s+",
        "nan@5s;drop=0.1", "nan@5s,,drop=0.1", "cut@1e9s", "cut@-1s", "explode@1s",
    ],
)  # fmt: skip
def test_what_is_no_fault_is_refused_in_one_line_that_names_it(text: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse(text)
    assert "--inject" in str(refused.value) and "for example" in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.text(alphabet="dropelayfzcutnk-=@+±,:.0123456789ms ", max_size=30))
def test_any_text_is_faults_or_one_line(text: str) -> None:
    try:
        faults = parse(text)
    except ConfigurationError:
        return
    assert all(isinstance(fault, Fault) and fault.at_s >= 0.0 for fault in faults)


def test_a_camera_may_be_named_by_the_beginning_of_its_role() -> None:
    (fault,) = with_roles(parse("freeze=camera:left@3s"), ROLES)
    assert fault.target == "camera:left_wrist"
    for text in ("freeze=camera:front@3s", "freeze=camera:x@1s"):
        with pytest.raises(ConfigurationError, match="top, left_wrist, right_wrist"):
            with_roles(parse(text), ROLES)
    with pytest.raises(ConfigurationError):
        with_roles(parse("freeze=camera:l@1s"), ("left", "lower"))


def test_faults_are_refused_on_real_arms() -> None:
    with pytest.raises(ConfigurationError, match="rig sim or ideal"):
        checked_faults("nan@1s", "yam", ROLES)
    assert checked_faults("", "yam", ROLES) == ()


def test_a_fault_lasts_from_its_time_for_its_length() -> None:
    (fault,) = parse("cut@1s+2s")
    assert [fault.lasts(at_s) for at_s in (None, 0.9, 1.0, 2.9, 3.0)] == [False, False, True, True, False]
