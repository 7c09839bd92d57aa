"""The modes as a total function, and the rules that must hold for every pair of mode and event."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_client.modes import MOVING, PERSON, TABLE, TORQUE_ON, TROUBLE, Event, Mode, ModeState, next_mode
from robot_client.modes_table import main, page

PAGE = Path(__file__).parents[2] / "docs" / "modes.md"
_ALL = list(itertools.product(Mode, Event, (False, True)))
_NEEDS_A_PERSON = (Mode.HOLD, Mode.FAULT, Mode.FALLING)


@pytest.mark.parametrize(("mode", "event", "parks_itself"), _ALL)
def test_every_event_has_an_answer_in_every_mode(mode: Mode, event: Event, parks_itself: bool) -> None:
    assert isinstance(next_mode(mode, event, parks_itself), Mode)
    assert set(TABLE) == set(Mode)


@pytest.mark.parametrize("mode", _NEEDS_A_PERSON)
@pytest.mark.parametrize("event", [event for event in Event if event not in PERSON])
def test_only_a_person_leads_out_of_hold_fault_and_falling(mode: Mode, event: Event) -> None:
    after = next_mode(mode, event)
    worse = {Event.RIG_FAILED: Mode.FAULT, Event.MOTOR_DEAD: Mode.FALLING}
    assert after is mode or after is worse.get(event)
    assert after not in MOVING


@pytest.mark.parametrize("event", sorted(TROUBLE, key=lambda event: event.value))
@pytest.mark.parametrize("mode", sorted(TORQUE_ON, key=lambda mode: mode.value))
def test_trouble_and_the_first_interrupt_lead_to_hold_while_torque_is_on(mode: Mode, event: Event) -> None:
    assert next_mode(mode, event) is Mode.HOLD


@pytest.mark.parametrize("event", sorted(TROUBLE, key=lambda event: event.value))
@pytest.mark.parametrize("mode", [Mode.OFF, Mode.RELAXED])
def test_trouble_never_switches_torque_on(mode: Mode, event: Event) -> None:
    assert next_mode(mode, event) is mode


@pytest.mark.parametrize(("mode", "event"), list(itertools.product(Mode, Event)))
def test_parking_begins_only_by_a_person_except_on_rigs_that_park_themselves(mode: Mode, event: Event) -> None:
    if mode is not Mode.PARK and next_mode(mode, event) is Mode.PARK:
        assert event is Event.PARK
    if mode is not Mode.PARK and next_mode(mode, event, parks_itself=True) is Mode.PARK:
        assert event in (Event.PARK, Event.SELF_PARK)


def test_an_interrupt_during_parking_stops_and_holds() -> None:
    assert next_mode(Mode.PARK, Event.INTERRUPT) is Mode.HOLD
    assert next_mode(Mode.PARK, Event.INTERRUPT, parks_itself=True) is Mode.HOLD


@pytest.mark.parametrize(("mode", "event"), list(itertools.product(Mode, Event)))
def test_a_source_takes_the_arms_only_through_a_handoff(mode: Mode, event: Event) -> None:
    driven = (Mode.POLICY, Mode.TELEOP, Mode.REPLAY, Mode.EXTERNAL)
    after = next_mode(mode, event)
    if after in driven and after is not mode:
        assert mode is Mode.HANDOFF


@pytest.mark.parametrize(("mode", "event"), list(itertools.product(Mode, Event)))
def test_torque_comes_on_only_by_enabling_and_goes_only_by_a_person_or_a_dead_motor(mode: Mode, event: Event) -> None:
    after = next_mode(mode, event)
    if mode not in TORQUE_ON and after in TORQUE_ON:
        assert (event, after) == (Event.ENABLE, Mode.IDLE)
    if mode in TORQUE_ON and after not in TORQUE_ON:
        assert event in (Event.RELAX, Event.POWER_OFF, Event.RIG_FAILED, Event.MOTOR_DEAD)


@pytest.mark.parametrize("mode", sorted(MOVING, key=lambda mode: mode.value))
@pytest.mark.parametrize("event", [Event.RELAX, Event.POWER_OFF, Event.ENABLE])
def test_moving_arms_are_never_let_go(mode: Mode, event: Event) -> None:
    assert next_mode(mode, event) is mode


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.OFF])
def test_a_dead_motor_is_falling_from_wherever_torque_may_be(mode: Mode) -> None:
    assert next_mode(mode, Event.MOTOR_DEAD) is Mode.FALLING


@pytest.mark.parametrize("mode", list(Mode))
def test_a_rig_that_parks_itself_does_so_only_from_standing(mode: Mode) -> None:
    standing = mode in (Mode.HOLD, Mode.IDLE)
    assert next_mode(mode, Event.SELF_PARK, parks_itself=True) is (Mode.PARK if standing else mode)
    assert next_mode(mode, Event.SELF_PARK, parks_itself=False) is mode


def test_targets_are_commanded_in_every_mode_but_the_four_without_torque() -> None:
    assert set(Mode) - TORQUE_ON == {Mode.OFF, Mode.RELAXED, Mode.FALLING, Mode.FAULT}
    assert {Mode.IDLE, Mode.HOLD} == TORQUE_ON - MOVING


def test_falling_is_never_reported_as_held() -> None:
    for event in Event:
        assert next_mode(Mode.FALLING, event) not in (Mode.HOLD, Mode.PARK)


@given(events=st.lists(st.sampled_from(list(Event)), max_size=60), parks_itself=st.booleans())
def test_the_epoch_rises_at_every_change_pause_stop_reset_and_instruction_and_never_falls(
    events: list[Event], parks_itself: bool
) -> None:
    state = ModeState()
    for event in events:
        after = state.after(event, "why", parks_itself)
        renews = event in (Event.ENGAGE, Event.HOLD, Event.PARK, Event.INSTRUCTION, Event.INTERRUPT)
        assert after.epoch - state.epoch == int(after.mode is not state.mode or renews)
        assert after.mode is next_mode(state.mode, event, parks_itself)
        state = after


def test_the_reason_is_that_of_entering_the_mode() -> None:
    state = ModeState(Mode.POLICY, 4, "engaged").after(Event.WATCHDOG, "the plan ran out")
    assert (state.mode, state.epoch, state.reason) == (Mode.HOLD, 5, "the plan ran out")
    assert state.after(Event.INTERRUPT, "Ctrl-C").reason == "the plan ran out"
    assert state.after(Event.WATCHDOG, "joints") is state


def test_a_state_begins_off_at_epoch_0_and_a_rig_parks_itself_only_if_it_says_so() -> None:
    assert (ModeState().mode, ModeState().epoch) == (Mode.OFF, 0)
    held = ModeState(Mode.HOLD)
    assert held.after(Event.SELF_PARK, "idle") is held
    assert held.after(Event.SELF_PARK, "idle", parks_itself=True).mode is Mode.PARK


def test_the_page_of_the_state_machine_is_current_and_has_every_pair_of_mode_and_event() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "run python -m robot_client.modes_table --write docs/modes.md"
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| `") and " | " in line]
    shown = {row[0].strip().split("`")[1]: [cell.strip() for cell in row[1:]] for row in rows if len(row) == 13}
    assert set(shown) == {event.value for event in Event}
    for event in Event:
        for mode, cell in zip(Mode, shown[event.value], strict=True):
            after = mode if cell == "." else Mode(cell.removesuffix(" *"))
            assert after is next_mode(mode, event, parks_itself=cell.endswith("*"))


def test_a_changed_state_machine_is_noticed_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "modes.md"
    old.write_text(
        PAGE.read_text(encoding="utf-8").replace("| `release` (person) | . |", "| `release` (person) | HOLD |")
    )
    monkeypatch.setattr("sys.argv", ["modes_table", "--check", str(old)])
    assert main() == 1
    monkeypatch.setattr("sys.argv", ["modes_table", "--write", str(old)])
    assert main() == 0
    assert old.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")
