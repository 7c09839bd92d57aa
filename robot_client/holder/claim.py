"""A file that one live process holds. Whoever comes second is told who came first."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Final

from contract.errors import RigError
from robot_client.mailbox_file import identity_of, same_file

_LOOKS: Final = 4
_LOOK_S: Final = 0.005
"""`owner` of another process holds the file for a moment while it looks."""


class Claim:
    """Held until `release` or the end of the process, however it ends. Made by `claim`."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor, self._path = descriptor, path
        self._identity = identity_of(descriptor)

    @property
    def lost(self) -> bool:
        """The file was deleted or replaced: it keeps nobody away any more."""
        return not same_file(self._path, self._identity)

    def release(self) -> None:
        """Give it up."""
        os.close(self._descriptor)


def claim(path: Path, what: str, remedy: str) -> Claim:
    """Take it, or raise `RigError` naming the process that has it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except PermissionError:
        raise RigError(what, expected="nobody else", got=f"another user's {path}", remedy=remedy) from None
    if not _locked(descriptor):
        os.close(descriptor)
        raise RigError(what, expected="nobody else", got=f"process {owner(path) or '?'}", remedy=remedy)
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return Claim(descriptor, path)


def _locked(descriptor: int) -> bool:
    for look in range(_LOOKS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(_LOOK_S if look < _LOOKS - 1 else 0.0)
    return False


def owner(path: Path) -> int:
    """Process that holds the file now; 0 = nobody."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return int(os.pread(descriptor, 20, 0) or b"0")
    finally:
        os.close(descriptor)
    return 0
