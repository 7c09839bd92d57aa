"""Latest value shared between two processes: one writer, any number of readers, nobody waits.

A mailbox is one mmapped file: a 64-byte head and two slots. A slot is a header (sequence, stamp, length, crc32) and a
payload. The writer fills the slot that does not hold the newest value, so the newest whole value is always somewhere;
a reader copies a slot and believes it only when the checksum over header and payload agrees. That finds a torn read
on any memory model, with no lock and no fence. Keep mailboxes on a memory file system (`memory_directory`): dirty
pages of a disk file can stall their writer. All of a mailbox's memory is taken when it is opened: a page that is first
touched by a value, on a file system that is full by then, would end the writer by SIGBUS.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from contract.errors import ConfigurationError, RigError
from robot_client.mailbox_file import (
    MAX_CAPACITY_BYTES,
    Identity,
    Letter,
    checked_capacity,
    create_if_missing,
    file_size,
    identity_of,
    is_empty,
    newest_whole,
    same_file,
    write_slot,
)

_TRIES: Final = 8


class MailboxWriter:
    """The only writer of a mailbox. `put` never blocks. Made by `open_writer`."""

    def __init__(self, path: Path, descriptor: int, memory: mmap.mmap, capacity_bytes: int, sequence: int) -> None:
        self._path, self._descriptor, self._memory = path, descriptor, memory
        self._capacity_bytes, self._sequence = capacity_bytes, sequence
        self._identity = identity_of(descriptor)

    @property
    def sequence(self) -> int:
        """Number of the newest value; 0 when there is none."""
        return self._sequence

    def put(self, payload: bytes | bytearray | memoryview, stamp_ns: int) -> int:
        """Make `payload` the newest value; returns its number. `.data` of a contiguous ndarray will do."""
        view = memoryview(payload).cast("B")
        if len(view) > self._capacity_bytes:
            raise RigError(
                f"value for mailbox {self._path.name}",
                expected=f"at most {self._capacity_bytes} bytes",
                got=f"{len(view)} bytes",
                remedy="open the mailbox with a larger capacity",
            )
        sequence = self._sequence + 1
        write_slot(self._memory, self._capacity_bytes, view, stamp_ns, sequence)
        self._sequence = sequence
        return sequence

    @property
    def lost(self) -> bool:
        """The file was deleted or replaced: whoever opens its path now reads another one."""
        return not same_file(self._path, self._identity)

    def close(self) -> None:
        """Give the mailbox up; its last value stays readable."""
        self._memory.close()
        os.close(self._descriptor)


class MailboxReader:
    """Reads the newest whole value of a mailbox that may not exist yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._memory: mmap.mmap | None = None
        self._capacity_bytes = 0
        self._identity: Identity | None = None
        self._last: Letter | None = None

    def newest(self) -> Letter | None:
        """The newest whole value, or None while none was written.

        If a writer outruns this reader `_TRIES` times in a row, the last whole value seen is returned again; its
        stamp says how old it is.
        """
        memory = self._memory or self._attach()
        if memory is None:
            return None
        for _ in range(_TRIES):
            letter = newest_whole(memory, self._capacity_bytes, self._last)
            if letter is not None:
                self._last = letter
                return letter
            if self._last is None and is_empty(memory, self._capacity_bytes):
                return None
        return self._last

    def newer_than(self, sequence: int) -> Letter | None:
        """As `newest`, but None unless its number is above `sequence`."""
        letter = self.newest()
        return letter if letter is not None and letter.sequence > sequence else None

    @property
    def lost(self) -> bool:
        """The file that is read was deleted or replaced: nothing new can come by it."""
        return self._identity is not None and not same_file(self._path, self._identity)

    def forget(self) -> None:
        """Let go of the file and of what came by it: numbers of another file begin anew."""
        self.close()
        self._last = self._identity = None

    def close(self) -> None:
        """Let go of the file; a later read opens it again."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _attach(self) -> mmap.mmap | None:
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            self._capacity_bytes = checked_capacity(self._path, descriptor)
            self._memory = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
            self._identity = identity_of(descriptor)
        finally:
            os.close(descriptor)
        return self._memory


def open_writer(path: Path, capacity_bytes: int) -> MailboxWriter:
    """Create or take over a mailbox for values of up to `capacity_bytes`.

    Raises `RigError` when a live writer holds it, when it has another capacity, when the file is no mailbox, or when
    there is no room for it. After a crash the numbering continues.
    """
    if isinstance(capacity_bytes, bool) or not 0 < capacity_bytes <= MAX_CAPACITY_BYTES:
        raise ConfigurationError(
            f"capacity of mailbox {path.name}", expected=f"1..{MAX_CAPACITY_BYTES} bytes", got=capacity_bytes
        )
    try:
        return _opened(path, capacity_bytes)
    except OSError as error:
        raise RigError(
            f"mailbox {path}",
            expected=f"{file_size(capacity_bytes)} bytes of memory",
            got=error.strerror,
            remedy=f"look at {path.parent}: df, ls -l",
        ) from error


def _opened(path: Path, capacity_bytes: int) -> MailboxWriter:
    create_if_missing(path, capacity_bytes)
    with ExitStack() as undo:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        undo.callback(os.close, descriptor)
        _claim(path, descriptor)
        found = checked_capacity(path, descriptor)
        if found != capacity_bytes:
            raise RigError(
                f"mailbox {path}",
                expected=f"{capacity_bytes} bytes",
                got=f"{found} bytes",
                remedy="use a fresh run directory",
            )
        os.posix_fallocate(descriptor, 0, file_size(capacity_bytes))
        memory = mmap.mmap(descriptor, 0)
        undo.pop_all()  # the writer owns it now
    last = newest_whole(memory, capacity_bytes, None)
    return MailboxWriter(path, descriptor, memory, capacity_bytes, last.sequence if last else 0)


def memory_directory() -> Path:
    """Where run directories belong: a memory file system when there is one, the temporary directory otherwise."""
    shared = Path("/dev/shm")
    return shared if os.access(shared, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


def _claim(path: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RigError(
            f"mailbox {path}",
            expected="one writer",
            got="a live process that writes it",
            remedy="stop that process or use another run directory",
        ) from None
