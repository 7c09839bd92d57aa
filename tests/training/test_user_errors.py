"""What a person gets wrong is one line with the remedy, before hours are spent.

Resume with another run: test_resume. Wrong folders, keys, shards: test_data. Cosmos folders: test_cosmos.
"""

from __future__ import annotations

import errno
import json
import shutil
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

from contract.errors import ConfigurationError, EpisodeError
from training import cli
from training.data import imported
from training.data.imported import import_episodes
from training.data.library import Library
from training.data.shard import Shard
from training.run import Run
from training.start import train

Usage = namedtuple("Usage", "total used free")


class Filmed:
    """An episode source with some cameras, that nobody reads any further."""

    layout = "drawn"

    def __init__(self, *roles: str) -> None:
        self.path = Path("somewhere/episode_3")
        self._roles = roles

    def cameras(self) -> dict[str, float]:
        return dict.fromkeys(self._roles, 30.0)


def no_room(path: object) -> Usage:
    return Usage(10**12, 10**12, 1000)


def test_a_layout_that_nobody_knows_is_one_line_with_the_known_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "data.hdf5").write_bytes(b"x")
    line = ["yam-train", "import", str(tmp_path / "mine"), "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", line)
    assert cli.main() == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1 and "LeRobot" in said[0] and "data.hdf5" in said[0]
    assert not (tmp_path / "out").exists()


def test_a_missing_camera_is_named_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [Filmed("top", "left_wrist", "right_wrist"), Filmed("top", "left_wrist")]
    monkeypatch.setattr(imported, "episodes_at", lambda path: sources)
    with pytest.raises(EpisodeError, match=r"episode_3.*no right_wrist.*record with that camera"):
        import_episodes([tmp_path], tmp_path / "out", "toy")
    assert not (tmp_path / "out").exists()


def test_a_full_disk_is_said_before_the_first_step(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", no_room)
    with pytest.raises(ConfigurationError, match=r"disk of .*free some space"):
        train(run, tmp_path / "run", "test", lambda line: None)
    assert not (tmp_path / "run").exists()


def test_statistics_of_other_data_are_refused_by_channel(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Degrees instead of radians, or another order of channels: every action of the trained head would be wrong."""
    start = train(run, tmp_path / "first", "test", lambda line: None, stop_at=1)
    again = run.model_copy(update={"name": "again", "start": str(start)})
    train(again, tmp_path / "again", "test", lambda line: None, stop_at=1)
    read = Library.__init__

    def in_degrees(self: Library, folders: object, shards: object = ()) -> None:
        read(self, folders, shards)  # type: ignore[arg-type]
        turned = {
            id(one.shard): Shard(
                one.shard.folder,
                one.shard.frames,
                np.degrees(one.shard.joints),
                np.degrees(one.shard.targets),
                one.shard.phases,
                one.shard.episodes,
            )
            for one in self.demonstrations
        }
        self.demonstrations = [type(one)(turned[id(one.shard)], one.entry, one.number) for one in self.demonstrations]

    monkeypatch.setattr(Library, "__init__", in_degrees)
    other = again.model_copy(update={"name": "other"})
    with pytest.raises(ConfigurationError, match=r"statistics of state left_joint1.*fresh_head"):
        train(other, tmp_path / "other", "test", lambda line: None, stop_at=1)
    train(other.model_copy(update={"fresh_head": True}), tmp_path / "fresh", "test", lambda line: None, stop_at=1)


def test_the_head_of_another_policy_must_have_been_trained_on_such_data_too(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the start was looked at: a head taken over from data in other units went on unnoticed."""
    start = train(run, tmp_path / "first", "test", lambda line: None, stop_at=1)
    card = start / "card.json"
    other = tmp_path / "other"
    shutil.copytree(start, other)
    told = json.loads(card.read_text())
    told["state"]["offset"][0] += 90.0
    (other / "card.json").write_text(json.dumps(told))
    mixed = run.model_copy(update={"name": "mixed", "start": str(start), "head_start": str(other)})
    with pytest.raises(ConfigurationError, match=r"statistics of state left_joint1, head of .*other"):
        train(mixed, tmp_path / "mixed", "test", lambda line: None, stop_at=1)


def test_a_disk_that_fills_up_on_the_way_is_said_and_what_was_saved_is_gone_on_from(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(run, tmp_path / "run", "test", lambda line: None, stop_at=3)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("training.state.save_file", full)
        with pytest.raises(ConfigurationError, match=r"state of step 6.*No space left.*same command again"):
            train(run, tmp_path / "run", "test", lambda line: None)
    said: list[str] = []
    train(run, tmp_path / "run", "test", said.append)
    assert (tmp_path / "run" / "checkpoint").is_dir()
    assert not any(line.startswith("1 of 6") for line in said)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "x.npy"), "free some space"),
        (PermissionError(errno.EACCES, "Permission denied", "x.npy"), "check the path"),
    ],
)
def test_what_the_system_refuses_is_one_line(
    error: OSError, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr("tyro.extras.subcommand_cli_from_dict", refuse)
    assert cli.main() == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and "x.npy" in lines[0] and said in lines[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--note"], "yam-train publish makes one"),
        (["--per-pair", "0"], "at least one"),
        (["--futures", "hidden"], "kept, masked"),
    ],
)
def test_what_cannot_be_evaluated_is_said_before_anything_is_tried(
    arguments: list[str],
    said: str,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Notes for a checkpoint, which has no manifest, were refused after the last trial."""
    start = train(run, tmp_path / "run", "test", lambda line: None, stop_at=1)
    line = ["yam-train", "evaluate", str(start), "--out", str(tmp_path / "out"), *arguments]
    monkeypatch.setattr(sys, "argv", line)
    assert cli.main() == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and said in lines[0]
    assert not (tmp_path / "out").exists()
