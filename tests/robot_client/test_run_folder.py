"""Folders in shared memory go with their run, whatever ends it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from robot_client.run_folder import make_run_folder

_KILLED = """
import os, signal, sys
from pathlib import Path
from robot_client.run_folder import make_run_folder
print(make_run_folder("run", Path(sys.argv[1])).path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_run_removes_its_own(tmp_path: Path) -> None:
    with make_run_folder("run", tmp_path) as folder:
        (folder / "mailbox").write_bytes(b"x")
    assert list(tmp_path.iterdir()) == []


def test_one_for_which_there_is_no_room_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty owner's file is left alone by every later run, as if somebody were just about to lock it."""

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("robot_client.run_folder.os.write", full)
    with pytest.raises(OSError, match="No space"):
        make_run_folder("run", tmp_path)
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    """After kill -9 of a client its folder, 5 MB with three cameras, stayed in memory for good."""
    told = subprocess.run([sys.executable, "-c", _KILLED, tmp_path], capture_output=True, text=True, timeout=60)
    left = Path(told.stdout.strip())
    assert left.is_dir()
    with make_run_folder("run", tmp_path) as folder:
        assert not left.exists() and folder.is_dir()


def test_folders_of_runs_that_live_and_of_others_stay(tmp_path: Path) -> None:
    """One that is just being made has an owner's file that is empty or none."""
    (tmp_path / "yam-run-young").mkdir()
    (tmp_path / "yam-run-younger").mkdir()
    (tmp_path / "yam-run-young" / "owner").touch()
    (tmp_path / "yam-arms-0").mkdir()
    with make_run_folder("run", tmp_path) as first, make_run_folder("run", tmp_path) as second:
        assert first.is_dir() and second.is_dir() and first != second
        assert len(list(tmp_path.iterdir())) == 5
