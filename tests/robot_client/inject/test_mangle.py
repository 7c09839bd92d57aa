"""Answers that are lost, late, wrong or out of order: what the planner gets is what the real link would make of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contract.errors import ActionError, FieldError, LinkError, LinkTimeoutError
from contract.types import ActionChunk, Observation
from robot_client.clock import NS_PER_MS, NS_PER_S, FakeClock
from robot_client.inject.effects import Effects
from robot_client.inject.grammar import parse
from robot_client.inject.link import InjectedLink
from robot_client.inject.mangle import Mangler
from robot_client.inject.rig import InjectedRig
from robot_client.inject.since import EngagedMark, Since
from robot_client.link.asked import Answer, Asked
from robot_client.planner.policy_link import PlannerLink
from robot_client.rigs.ideal import IdealRig
from robot_client.scripted_link import Reply, ScriptedLink, chunk_for
from tests.robot_client.stage import HOME, STATION, info, line

BUDGET_NS = 200 * NS_PER_MS


def question(sequence: int) -> Observation:
    return Observation(
        session="s", epoch=1, sequence=sequence, stamp_ns=0, joints=np.zeros(14, np.float32), joints_stamp_ns=0,
        images={}, image_stamps_ns={}, instruction="go", seed=0, first_row=sequence,
        prefix=np.zeros((0, 14), np.float32), budget_ns=0,
    )  # fmt: skip


def answer(sequence: int, asked_ns: int = 0, took_ns: int = 50 * NS_PER_MS) -> Answer:
    asked = Asked(sequence, question(sequence), (), asked_ns, asked_ns + BUDGET_NS)
    rows = line(HOME, 0.001, sequence, 16)
    return Answer(asked, chunk_for(asked.question, rows, sequence, 0), asked_ns + took_ns)  # type: ignore[arg-type]


def through(text: str, *answers: Answer, seed: int = 0, at_s: float = 1.0) -> list[Answer]:
    """All that comes out, in order."""
    mangler = Mangler(parse(text), seed)
    for each in answers:
        mangler.take(each, info(), at_s, 1)
    return mangler.due(10 * NS_PER_S)


def test_nothing_happens_without_a_fault_and_before_engagement() -> None:
    sound = answer(0)
    assert through("nan@5s", sound)[0].outcome is sound.outcome
    mangler = Mangler(parse("drop=1"), 0)
    mangler.take(sound, info(), None, 0)
    assert mangler.due(NS_PER_S)[0].outcome is sound.outcome


def test_a_lost_answer_is_the_links_timeout_at_its_time() -> None:
    (lost,) = through("drop=1", answer(3))
    assert isinstance(lost.outcome, LinkTimeoutError) and lost.answered_ns == BUDGET_NS
    assert "sequence 3" in str(lost.outcome)


def test_losses_come_with_their_probability_and_repeat_with_the_seed() -> None:
    runs = [
        [isinstance(out.outcome, LinkTimeoutError) for out in through("drop=0.2", *map(answer, range(500)), seed=seed)]
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]
    assert 60 < sum(runs[0]) < 140


def test_a_delay_is_even_within_its_spread_and_too_long_a_one_is_a_timeout() -> None:
    lags = [
        (out.answered_ns - 50 * NS_PER_MS) / NS_PER_MS for out in through("delay=80ms±40", *map(answer, range(200)))
    ]
    assert 40 <= min(lags) < 50 and 110 < max(lags) <= 120
    (lost,) = through("delay=160ms", answer(0))
    assert isinstance(lost.outcome, LinkTimeoutError)


def test_a_nan_comes_once_and_is_refused_with_row_and_channel() -> None:
    first, second = through("nan@0.5s", answer(0), answer(1))
    assert isinstance(first.outcome, ActionError) and "row 1, left_joint1" in str(first.outcome)
    assert isinstance(second.outcome, ActionChunk)


@pytest.mark.parametrize("kind", ["stale", "swap"])
def test_an_answer_to_another_question_is_refused(kind: str) -> None:
    mangler = Mangler(parse(f"{kind}@2s"), 0)
    mangler.take(answer(4), info(), 1.0, 1)
    mangler.take(answer(5), info(), 2.5, 1)
    sound, wrong = mangler.due(NS_PER_S)
    assert isinstance(sound.outcome, ActionChunk) and isinstance(wrong.outcome, FieldError)
    assert wrong.asked.request_id == 5 and mangler.counts[kind] == 1


def test_a_held_answer_comes_after_the_next_or_not_at_all() -> None:
    mangler = Mangler(parse("reorder@0.5s"), 0)
    mangler.take(answer(0), info(), 1.0, 1)
    assert mangler.due(100 * NS_PER_MS) == []
    mangler.take(answer(1, asked_ns=60 * NS_PER_MS), info(), 1.1, 1)
    assert [out.asked.request_id for out in mangler.due(150 * NS_PER_MS)] == [1, 0]
    alone = Mangler(parse("reorder@0.5s"), 0)
    alone.take(answer(0), info(), 1.0, 1)
    assert alone.next_due_ns() == BUDGET_NS
    (late,) = alone.due(BUDGET_NS)
    assert isinstance(late.outcome, LinkTimeoutError)


def test_what_happens_once_happens_again_after_the_next_engagement() -> None:
    mangler = Mangler(parse("nan@0.5s"), 0)
    for sequence, engagement in enumerate((1, 1, 2, 2)):
        mangler.take(answer(sequence), info(), 1.0, engagement)
    kinds = [isinstance(out.outcome, ActionError) for out in mangler.due(NS_PER_S)]
    assert kinds == [True, False, True, False]


def test_every_answer_that_goes_in_comes_out_once() -> None:
    out = through("drop=0.3,delay=20ms±20,stale@0s+9s,reorder@0s+9s", *map(answer, range(50)))
    assert sorted(each.asked.request_id for each in out) == list(range(50))


def engaged(folder: Path, clock: FakeClock) -> Since:
    mark = EngagedMark(folder)
    mark.put(clock.now_ns())
    mark.close()
    return Since(folder)


def test_a_cut_link_takes_no_question_and_is_whole_again_afterwards(tmp_path: Path) -> None:
    clock = FakeClock(NS_PER_S)
    inner: PlannerLink = ScriptedLink(clock, info(), lambda asked, number: Reply(0, line(HOME, 0.0, 0, 16)))
    faults = parse("cut@1s+1s")
    link = InjectedLink(inner, faults, engaged(tmp_path, clock), clock, 0, Effects(tmp_path, "link", faults))
    link.open()
    assert link.state == "READY"
    clock.advance(NS_PER_S)
    assert link.state == "CONNECTING"
    with pytest.raises(LinkError, match="injected"):
        link.submit(question(0))
    clock.advance(NS_PER_S)
    assert link.state == "READY"


def test_a_frozen_camera_keeps_its_stamp_while_the_others_go_on(tmp_path: Path) -> None:
    clock = FakeClock(NS_PER_S)
    since, faults = engaged(tmp_path, clock), parse("freeze=camera:top@1s")
    sound = IdealRig(clock, HOME, STATION.cameras)
    rig = InjectedRig(sound, faults, since, clock, Effects(tmp_path, "rig", faults))
    for _ in range(3):
        stamps = {role: frame.stamp_ns for role, frame in rig.frames().items()}
        clock.advance(600 * NS_PER_MS)
    assert stamps["top"] == NS_PER_S + 600 * NS_PER_MS
    assert stamps["left_wrist"] == NS_PER_S + 1200 * NS_PER_MS


def test_a_reading_with_a_nan_comes_once_and_frozen_joints_grow_old(tmp_path: Path) -> None:
    clock = FakeClock(NS_PER_S)
    since = engaged(tmp_path, clock)
    faults = parse("nan=joints@1s,freeze=joints@2s")
    rig = InjectedRig(IdealRig(clock, HOME), faults, since, clock, Effects(tmp_path, "rig", faults))
    assert np.isfinite(rig.joints().positions).all()
    clock.advance(NS_PER_S)
    assert np.isnan(rig.joints().positions).all()
    assert np.isfinite(rig.joints().positions).all()
    clock.advance(2 * NS_PER_S)
    assert rig.joints().stamp_ns == 2 * NS_PER_S
