"""What a replay on a rig tells its loop, with a loop that a test plays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_client import local_codec, run_folder
from robot_client.channel import Channel, channel_pair
from robot_client.demo.interrupt import Interrupt
from robot_client.episodes import rig_replay
from robot_client.episodes.course import Course
from robot_client.episodes.rig_replay import RigReplay, RigReplaySettings
from robot_client.local_messages import PersonEvent
from tests.robot_client.stage import HOME, PERIOD_NS


class Loop:
    """A child process that runs for `looks` looks."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    @property
    def running(self) -> bool:
        self.looks -= 1
        return self.looks >= 0

    def end(self, timeout_s: float) -> bool:
        return True


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Acts of a replay that a person stops while the loop gets ready and that takes two more looks to end."""
    interrupt, ends = Interrupt(), list[Channel]()

    def start(self: RigReplay, run_dir: Path, planner: Channel) -> None:
        self._channel, end = channel_pair()
        self._loop = Loop(2)  # type: ignore[assignment]
        ends.append(end)
        interrupt.ask()

    monkeypatch.setattr(RigReplay, "_start", start)
    monkeypatch.setattr(run_folder, "memory_directory", lambda: tmp_path)
    monkeypatch.setattr(
        rig_replay, "course_of", lambda path: Course(np.arange(2) * PERIOD_NS, np.array([HOME, HOME]), 0)
    )
    RigReplay(RigReplaySettings(tmp_path, "ideal", "twin", 1.0, 0, tmp_path), interrupt, lambda line: None).conduct()
    acts: list[str] = []
    while (message := local_codec.receive(ends[0])) is not None:
        acts += [message.act] if isinstance(message, PersonEvent) else []
    return acts


def test_a_replay_that_was_stopped_before_it_began_does_not_begin(told: list[str]) -> None:
    """B29's kind: Ctrl-C while the loop was still getting ready was followed by "replay", as if nobody had asked."""
    assert [act for act in told if act != "alive"] == ["finish"]


def test_until_the_loop_is_gone_it_hears_of_the_operator(told: list[str]) -> None:
    """Where the station asks for it (watchdogs.operator_ms) two seconds of silence held the arms on their way to the
    park pose."""
    assert "alive" in told[told.index("finish") :]
