"""The processes behind the client node: what the node owes them. No ROS in here."""

from __future__ import annotations

from pathlib import Path

import pytest
from yam_vam.crew import Crew, CrewSettings

from contract.errors import RigError
from robot_client import local_codec
from robot_client.channel import channel_pair
from robot_client.local_messages import PersonEvent
from robot_client.process_config import LoopConfig


def test_a_node_that_listens_is_a_sign_of_life_of_the_operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing said "alive": on a station with watchdogs.operator_ms the loop held the arms after two seconds."""
    now_s = [100.0]
    monkeypatch.setattr("yam_vam.crew.time.monotonic", lambda: now_s[0])
    crew = Crew(CrewSettings(LoopConfig(), None, tmp_path, (), ()))
    ours, loops = channel_pair()
    crew._channels = [ours]
    for _ in range(100):  # one second of the node's timer
        assert list(crew.messages()) == []
        now_s[0] += 0.01
    heard = []
    while (message := local_codec.receive(loops)) is not None:
        heard.append(message)
    assert 4 <= len(heard) <= 6 and set(heard) == {PersonEvent("alive")}
    ours.close()
    loops.close()


def test_a_crew_that_is_only_made_has_done_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its constructor made a folder, which stayed behind when the configuration failed before `start`."""
    monkeypatch.setattr("robot_client.run_folder.memory_directory", lambda: tmp_path)
    crew = Crew(CrewSettings(LoopConfig(), None, tmp_path / "logs", (), ()))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RigError, match="not started"):
        _ = crew.run_dir
