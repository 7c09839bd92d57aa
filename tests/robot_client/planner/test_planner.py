"""The planner between loop, cameras, link and supervisor."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray

from contract.errors import LinkError, RigError, SessionError
from contract.server_info import ServerInfo
from contract.types import ActionChunk, Observation
from robot_client import local_codec
from robot_client.channel import channel_pair
from robot_client.clock import NS_PER_MS, FakeClock
from robot_client.local_messages import CameraAges, LocalMessage, PlanFailure, PlanRequest, PolicyReady, ReplanRecord
from robot_client.planner.planner import Planner
from robot_client.rigs.base import Frame
from robot_client.rigs.ideal import IdealRig
from robot_client.scripted_link import Reply, Script, ScriptedLink
from tests.robot_client.stage import HOME, STATION, info, steady


def _rows(observation: Observation) -> NDArray:
    return np.tile(HOME, (16 - len(observation.prefix), 1))


class Desk:
    """A planner with its four ends in the test's hands."""

    def __init__(self, script: Script = steady(_rows, 0), server: ServerInfo | None = None) -> None:  # noqa: B008
        self.clock = FakeClock(10**9)
        self.rig = IdealRig(self.clock, HOME, STATION.cameras)
        self.link = ScriptedLink(self.clock, server or info(), script)
        self.loop, planner_loop = channel_pair()
        self.supervisor, planner_supervisor = channel_pair()
        self.said: list[str] = []
        self.ages: list[CameraAges] = []
        self.planner = Planner(
            self.clock, self.rig, STATION, self.link, "s", {}, planner_loop, planner_supervisor, self.said.append
        )

    def step(self, times: int = 2) -> tuple[list[LocalMessage], list[LocalMessage]]:
        """What loop and supervisor got."""
        for _ in range(times):
            self.planner.step(0.0)
        to_loop = _all(self.loop)
        self.ages += [message for message in to_loop if isinstance(message, CameraAges)]
        return [message for message in to_loop if not isinstance(message, CameraAges)], _all(self.supervisor)

    def ask(self, sequence: int = 0, epoch: int = 1, **changes: object) -> None:
        """The loop asks."""
        request = PlanRequest(
            epoch=epoch,
            sequence=sequence,
            first_row=0,
            prefix=np.zeros((0, 14), np.float32),
            joints=HOME.astype(np.float32),
            joints_stamp_ns=self.clock.now_ns(),
            instruction="go",
            seed=3,
            budget_ns=400 * NS_PER_MS,
            guidance="adaptive",
            asked_ns=self.clock.now_ns(),
        )
        assert local_codec.send(self.loop, dataclasses.replace(request, **changes))  # type: ignore[arg-type]


def _all(channel: object) -> list[LocalMessage]:
    messages = []
    while (message := local_codec.receive(channel)) is not None:  # type: ignore[arg-type]
        messages.append(message)
    return messages


def _ready(desk: Desk) -> None:
    desk.link.open()
    desk.step()


def test_the_loop_is_told_ten_times_a_second_how_old_each_cameras_newest_image_is() -> None:
    desk = Desk()
    _ready(desk)
    frozen = desk.rig.frames()["top"]
    frames = desk.rig.frames
    desk.rig.frames = lambda: {**frames(), "top": frozen}  # type: ignore[method-assign]
    for _ in range(100):
        desk.clock.advance(10 * NS_PER_MS)
        desk.step(1)
    assert 10 <= len(desk.ages) <= 12
    assert desk.ages[-1].ages_ns == {"top": desk.ages[-1].stamp_ns - frozen.stamp_ns, "left_wrist": 0, "right_wrist": 0}


def test_the_handshake_is_told_to_loop_and_supervisor_once_with_cameras_named_in_the_log() -> None:
    desk = Desk()
    desk.link.open()
    to_loop, to_supervisor = desk.step(5)
    assert to_loop == to_supervisor
    assert [type(message) for message in to_loop] == [PolicyReady]
    ready = to_loop[0]
    assert isinstance(ready, PolicyReady)
    assert (ready.step_ns, ready.horizon, ready.max_prefix, ready.trained) == (100 * NS_PER_MS, 16, 8, False)
    text = "\n".join(desk.said)
    assert "UNTRAINED" in text
    assert "camera top 64x64 <- top twin:top 128x128" in text


def test_a_question_becomes_an_observation_with_the_newest_images_fitted_and_the_answer_comes_back_bare() -> None:
    desk = Desk()
    _ready(desk)
    desk.ask(sequence=5, epoch=2)
    to_loop, to_supervisor = desk.step()
    observation = desk.link.asked[0]
    assert {role: image.shape for role, image in observation.images.items()} == {
        "top": (64, 64, 3),
        "left_wrist": (32, 32, 3),
        "right_wrist": (32, 32, 3),
    }
    assert (observation.session, observation.epoch, observation.sequence) == ("s", 2, 5)
    chunk, record = to_loop[0], to_supervisor[0]
    assert isinstance(chunk, ActionChunk)
    assert isinstance(record, ReplanRecord)
    assert chunk.temporal_ratio.masses.size == 0
    np.testing.assert_array_equal(chunk.rows, record.rows)
    assert record.asked_ns <= record.sent_ns <= record.answered_ns


def test_without_a_server_every_question_is_answered_by_a_failure_and_trouble_is_repeated_slowly() -> None:
    desk = Desk()
    desk.ask()
    to_loop, to_supervisor = desk.step()
    assert [message.code for message in to_loop if isinstance(message, PlanFailure)] == ["link"]
    assert len(to_supervisor) == 1
    seen = 0
    for _ in range(100):
        desk.clock.advance(100 * NS_PER_MS)
        _, to_supervisor = desk.step(1)
        seen += sum(isinstance(message, PlanFailure) and message.sequence == -1 for message in to_supervisor)
    assert seen == 5


def test_a_refusing_server_is_named_at_once_and_asked_again_later() -> None:
    desk = Desk()
    desk.link.state, desk.link.refusal = "REFUSED", SessionError("session s", got="taken by another robot")
    _, to_supervisor = desk.step(10)
    assert [m.text for m in to_supervisor if isinstance(m, PlanFailure)] == ["session s: got taken by another robot"]
    desk.clock.advance(3000 * NS_PER_MS)
    desk.step(1)
    assert desk.link.state == "READY"


def test_only_the_newest_question_is_asked_and_the_older_ones_are_told() -> None:
    """B11: every question that gets no chunk gets its reason."""
    desk = Desk()
    _ready(desk)
    for sequence in range(4):
        desk.ask(sequence)
    to_loop, _ = desk.step()
    assert [o.sequence for o in desk.link.asked] == [3]
    failures = [(m.sequence, m.code) for m in to_loop if isinstance(m, PlanFailure)]
    assert failures == [(0, "skipped"), (1, "skipped"), (2, "skipped")]


def test_an_identical_question_is_asked_again() -> None:
    """B11: nothing is dropped because it looks like the last one."""
    desk = Desk()
    _ready(desk)
    for sequence in range(50):
        desk.ask(sequence)
        to_loop, _ = desk.step()
        assert [type(message) for message in to_loop] == [ActionChunk]
    assert len(desk.link.asked) == 50


@pytest.mark.parametrize("fault", ["old", "missing", "float"])
def test_a_camera_that_gives_no_good_image_is_named_and_nothing_is_sent(fault: str) -> None:
    desk = Desk()
    _ready(desk)
    frames = dict(desk.rig.frames())
    if fault == "missing":
        del frames["top"]
    elif fault == "old":
        frames["top"] = dataclasses.replace(frames["top"], stamp_ns=desk.clock.now_ns() - 501 * NS_PER_MS)
    else:
        frames["top"] = Frame("top", np.zeros((128, 128, 3)), desk.clock.now_ns())  # type: ignore[arg-type]
    desk.rig.frames = lambda: frames  # type: ignore[method-assign]
    desk.ask()
    to_loop, to_supervisor = desk.step()
    assert desk.link.asked == []
    assert isinstance(to_loop[0], PlanFailure)
    assert to_loop == to_supervisor
    assert {"old": "501 ms old", "missing": "none yet", "float": "float64"}[fault] in to_loop[0].text
    assert fault == "float" or "camera top (twin:top)" in to_loop[0].text


def test_a_camera_that_cannot_be_read_ends_nothing_is_named_and_comes_back() -> None:
    """The planner ended on the first such error, and with it the run."""
    desk = Desk()
    _ready(desk)
    frames = desk.rig.frames

    def broken() -> dict[str, Frame]:
        raise RigError("camera top", expected="a frame", got="another program's file")

    desk.rig.frames = broken  # type: ignore[method-assign, assignment]
    told, ages = [], len(desk.ages)
    for _ in range(30):
        desk.clock.advance(100 * NS_PER_MS)
        told += desk.step(1)[1]
    assert len(desk.ages) == ages, "the loop's watchdog must go on counting"
    assert [(m.code, m.sequence) for m in told if isinstance(m, PlanFailure)] == [("rig", -1)] * 2
    desk.ask()
    to_loop, _ = desk.step()
    assert [(m.code, m.sequence) for m in to_loop if isinstance(m, PlanFailure)] == [("rig", 0)]
    desk.rig.frames = frames  # type: ignore[method-assign]
    desk.clock.advance(100 * NS_PER_MS)
    desk.ask(sequence=1)
    to_loop, _ = desk.step()
    assert [type(m) for m in to_loop] == [ActionChunk] and len(desk.ages) > ages


def test_cameras_that_are_not_the_policys_end_the_planner_before_anything_is_asked() -> None:
    """B19: found only minutes later, or never."""
    from contract.errors import FieldError
    from contract.server_info import CameraSpec

    server = info()
    other = server.model_copy(update={"cameras": (CameraSpec(role="front", height=8, width=8), *server.cameras[1:])})
    desk = Desk(server=other)
    desk.link.open()
    with pytest.raises(FieldError, match=r"camera roles.*front.*top"):
        desk.step()


def test_errors_and_skips_of_the_server_reach_loop_and_supervisor() -> None:
    outcomes = [LinkError("server", got="gone"), "a newer one was there"]
    desk = Desk(lambda o, n: Reply(0, outcomes[n]))
    _ready(desk)
    for sequence in range(2):
        desk.ask(sequence)
        to_loop, to_supervisor = desk.step()
        assert to_loop == to_supervisor
        assert isinstance(to_loop[0], PlanFailure)
        assert (to_loop[0].sequence, to_loop[0].code) == (sequence, ("link", "skipped")[sequence])


def test_masses_too_large_for_a_datagram_are_left_out_and_the_record_still_comes() -> None:
    desk = Desk()
    link = desk.link
    outcome = link._outcome
    big = np.zeros((10, 8, 16, 32, 2), np.float32)
    assert big.nbytes > 160 * 1024
    link._outcome = lambda o, r: dataclasses.replace(  # type: ignore[method-assign]
        outcome(o, r),
        temporal_ratio=dataclasses.replace(outcome(o, r).temporal_ratio, masses=big),  # type: ignore[union-attr, arg-type]
    )
    _ready(desk)
    desk.ask()
    to_loop, to_supervisor = desk.step()
    assert isinstance(to_loop[0], ActionChunk)
    assert isinstance(to_supervisor[0], ReplanRecord)
    assert to_supervisor[0].masses.size == 0


@pytest.mark.parametrize("end", ["loop", "supervisor"])
def test_the_planner_is_over_when_loop_or_supervisor_is_gone(end: str) -> None:
    desk = Desk()
    _ready(desk)
    assert not desk.planner.over
    getattr(desk, end).close()
    desk.planner.step(0.0)
    assert desk.planner.over
