"""Latest value shared between two processes: one writer, any number of readers, nobody waits.

A mailbox is one mmapped file: a 64-byte head and two slots. A slot is a header (sequence, stamp, length, crc32) and a
payload. The writer fills the slot that does not hold the newest value, so the newest whole value is always somewhere;
a reader copies a slot and believes it only when the checksum over header and payload agrees. That finds a torn read
on any memory model, with no lock and no fence. Keep mailboxes on a memory file system (`memory_directory`): dirty
pages of a disk file can stall their writer.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contract.errors import ConfigurationError, RigError

_MAGIC: Final = b"YAMMAIL1"
_HEAD: Final = struct.Struct("<8sQ")
_HEAD_SIZE: Final = 64
_SLOT: Final = struct.Struct("<QqQI")
_SLOT_HEADER_SIZE: Final = 32
_TRIES: Final = 8
MAX_CAPACITY_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Letter:
    """One whole value: its bytes, the stamp its writer gave it [ns, monotonic clock] and its number (1, 2, 3 ...)."""

    payload: bytes
    stamp_ns: int
    sequence: int


class MailboxWriter:
    """The only writer of a mailbox. `put` never blocks. Made by `open_writer`."""

    def __init__(self, path: Path, descriptor: int, memory: mmap.mmap, capacity_bytes: int, sequence: int) -> None:
        self._path, self._descriptor, self._memory = path, descriptor, memory
        self._capacity_bytes, self._sequence = capacity_bytes, sequence

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
        start = _slot_start(sequence, self._capacity_bytes)
        body = start + _SLOT_HEADER_SIZE
        self._memory[body : body + len(view)] = view
        _SLOT.pack_into(self._memory, start, sequence, stamp_ns, len(view), _checksum(sequence, stamp_ns, view))
        self._sequence = sequence
        return sequence

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
            letter = _newest_whole(memory, self._capacity_bytes, self._last)
            if letter is not None:
                self._last = letter
                return letter
            if self._last is None and _is_empty(memory, self._capacity_bytes):
                return None
        return self._last

    def newer_than(self, sequence: int) -> Letter | None:
        """As `newest`, but None unless its number is above `sequence`."""
        letter = self.newest()
        return letter if letter is not None and letter.sequence > sequence else None

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
            self._capacity_bytes = _checked_capacity(self._path, descriptor)
            self._memory = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(descriptor)
        return self._memory


def open_writer(path: Path, capacity_bytes: int) -> MailboxWriter:
    """Create or take over a mailbox for values of up to `capacity_bytes`.

    Raises `RigError` when a live writer holds it, when it has another capacity, or when the file is no mailbox. After
    a crash the numbering continues.
    """
    if isinstance(capacity_bytes, bool) or not 0 < capacity_bytes <= MAX_CAPACITY_BYTES:
        raise ConfigurationError(
            f"capacity of mailbox {path.name}", expected=f"1..{MAX_CAPACITY_BYTES} bytes", got=capacity_bytes
        )
    _create_if_missing(path, capacity_bytes)
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        _claim(path, descriptor)
        found = _checked_capacity(path, descriptor)
        if found != capacity_bytes:
            raise RigError(
                f"mailbox {path}",
                expected=f"{capacity_bytes} bytes",
                got=f"{found} bytes",
                remedy="use a fresh run directory",
            )
        memory = mmap.mmap(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    last = _newest_whole(memory, capacity_bytes, None)
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


def _create_if_missing(path: Path, capacity_bytes: int) -> None:
    """Write the file beside and link it in, so that nobody ever sees half a head."""
    if path.exists():
        return
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        os.write(descriptor, _HEAD.pack(_MAGIC, capacity_bytes))
        os.ftruncate(descriptor, _file_size(capacity_bytes))
        os.link(name, path)
    except FileExistsError:
        return
    finally:
        os.close(descriptor)
        os.unlink(name)


def _checked_capacity(path: Path, descriptor: int) -> int:
    head = os.pread(descriptor, _HEAD.size, 0)
    size = os.fstat(descriptor).st_size
    if len(head) == _HEAD.size:
        magic, capacity_bytes = _HEAD.unpack(head)
        if magic == _MAGIC and 0 < capacity_bytes <= MAX_CAPACITY_BYTES and size == _file_size(capacity_bytes):
            return capacity_bytes
    raise RigError(f"file {path}", expected="a mailbox", got=f"{size} bytes of something else", remedy="delete it")


def _file_size(capacity_bytes: int) -> int:
    return _slot_start(1, capacity_bytes) + _slot_size(capacity_bytes)


def _slot_size(capacity_bytes: int) -> int:
    return _SLOT_HEADER_SIZE + -(-capacity_bytes // 64) * 64


def _slot_start(sequence: int, capacity_bytes: int) -> int:
    return _HEAD_SIZE + (sequence % 2) * _slot_size(capacity_bytes)


def _checksum(sequence: int, stamp_ns: int, payload: bytes | memoryview) -> int:
    return zlib.crc32(payload, zlib.crc32(struct.pack("<Qq", sequence, stamp_ns)))


def _newest_whole(memory: mmap.mmap, capacity_bytes: int, last: Letter | None) -> Letter | None:
    """The newer slot if whole, else the other one; nothing older than `last`."""
    headers = [_SLOT.unpack_from(memory, _slot_start(slot, capacity_bytes)) for slot in (0, 1)]
    for slot in sorted((0, 1), key=lambda at: -headers[at][0]):
        sequence, stamp_ns, length, checksum = headers[slot]
        if last is not None and sequence == last.sequence:
            return last
        if sequence == 0 or length > capacity_bytes or (last is not None and sequence < last.sequence):
            continue
        body = _slot_start(slot, capacity_bytes) + _SLOT_HEADER_SIZE
        payload = memory[body : body + length]
        if _checksum(sequence, stamp_ns, payload) == checksum:
            return Letter(payload, stamp_ns, sequence)
    return None


def _is_empty(memory: mmap.mmap, capacity_bytes: int) -> bool:
    return all(_SLOT.unpack_from(memory, _slot_start(slot, capacity_bytes))[0] == 0 for slot in (0, 1))
