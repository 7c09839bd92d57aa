"""The folder of one run in shared memory: mailboxes and configurations, gone with the run.

A run that is killed cannot remove it, and memory is not given back by itself. So each folder has a file that its owner
keeps locked, and the next run removes the folders whose lock is free. A lock holds across containers, where a process
number says nothing.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from robot_client.mailbox import memory_directory

_OWNER: Final = "owner"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Made by `make_run_folder`; leaving it as a context removes it."""

    path: Path
    _lock: int
    """Descriptor; not inherited, so the lock ends with this process."""

    def remove(self) -> None:
        """Everything in it, too. Raises nothing."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def make_run_folder(kind: str, root: Path | None = None) -> RunFolder:
    """`yam-KIND-...` in shared memory (or `root`), after those of killed runs of the same kind were removed.

    Raises `OSError` when there is no room.
    """
    root = root or memory_directory()
    for left in root.glob(f"yam-{kind}-*/{_OWNER}"):
        _remove_if_free(left)
    path = Path(tempfile.mkdtemp(prefix=f"yam-{kind}-", dir=root))
    with ExitStack() as undo:  # one that is never written to looks for ever as if it were just being made
        undo.callback(shutil.rmtree, path, ignore_errors=True)
        lock = os.open(path / _OWNER, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        undo.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.write(lock, b"locked by the run while it lives\n")  # one that is empty may be about to be locked
        undo.pop_all()
    return RunFolder(path, lock)


def _remove_if_free(owner: Path) -> None:
    try:
        lock = os.open(owner, os.O_RDWR | os.O_CLOEXEC)
    except OSError:  # another user's, or just removed
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(lock).st_size:
            shutil.rmtree(owner.parent, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(lock)
