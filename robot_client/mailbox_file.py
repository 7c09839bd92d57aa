"""The file of a mailbox: a 64-byte head (magic, capacity) and two slots of a header and a payload each.

Little-endian. A slot's header is sequence (uint64), stamp_ns (int64), length (uint64) and the crc32 (uint32) over
sequence, stamp and payload. Value number n lies in slot n mod 2.
"""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from contract.errors import RigError

_MAGIC: Final = b"YAMMAIL1"
_HEAD: Final = struct.Struct("<8sQ")
_HEAD_SIZE: Final = 64
_SLOT: Final = struct.Struct("<QqQI")
_SLOT_HEADER_SIZE: Final = 32
MAX_CAPACITY_BYTES: Final = 64 * 1024 * 1024
Identity: TypeAlias = tuple[int, int]
"""Device and inode: which file it is, whatever its name."""


@dataclass(frozen=True, slots=True)
class Letter:
    """One whole value: its bytes, the stamp its writer gave it [ns, monotonic clock] and its number (1, 2, 3 ...)."""

    payload: bytes
    stamp_ns: int
    sequence: int


def write_slot(memory: mmap.mmap, capacity_bytes: int, payload: memoryview, stamp_ns: int, sequence: int) -> None:
    """Write a value over the older of the two; its header last, though readers do not rely on the order."""
    start = slot_start(sequence, capacity_bytes)
    body = start + _SLOT_HEADER_SIZE
    memory[body : body + len(payload)] = payload
    _SLOT.pack_into(memory, start, sequence, stamp_ns, len(payload), checksum(sequence, stamp_ns, payload))


def create_if_missing(path: Path, capacity_bytes: int) -> None:
    """Write the file beside and link it in, so that nobody ever sees half a head."""
    if path.exists():
        return
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        os.write(descriptor, _HEAD.pack(_MAGIC, capacity_bytes))
        os.ftruncate(descriptor, file_size(capacity_bytes))
        os.link(name, path)
    except FileExistsError:
        return
    finally:
        os.close(descriptor)
        os.unlink(name)


def checked_capacity(path: Path, descriptor: int) -> int:
    """Capacity [bytes] of an open mailbox file; `RigError` when it is none."""
    head = os.pread(descriptor, _HEAD.size, 0)
    size = os.fstat(descriptor).st_size
    if len(head) == _HEAD.size:
        magic, capacity_bytes = _HEAD.unpack(head)
        if magic == _MAGIC and 0 < capacity_bytes <= MAX_CAPACITY_BYTES and size == file_size(capacity_bytes):
            return capacity_bytes
    raise RigError(f"file {path}", expected="a mailbox", got=f"{size} bytes of something else", remedy="delete it")


def file_size(capacity_bytes: int) -> int:
    """Size of the whole file [bytes]."""
    return slot_start(1, capacity_bytes) + slot_size(capacity_bytes)


def identity_of(descriptor: int) -> Identity:
    """Device and number of an open file."""
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def same_file(path: Path, identity: Identity) -> bool:
    """Whether `path` still names that very file."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == identity


def slot_size(capacity_bytes: int) -> int:
    """Size of a slot [bytes]; payloads are padded so that slots do not share a cache line."""
    return _SLOT_HEADER_SIZE + -(-capacity_bytes // 64) * 64


def slot_start(sequence: int, capacity_bytes: int) -> int:
    """Where the slot of a value begins."""
    return _HEAD_SIZE + (sequence % 2) * slot_size(capacity_bytes)


def checksum(sequence: int, stamp_ns: int, payload: bytes | memoryview) -> int:
    """crc32 over sequence, stamp and payload."""
    return zlib.crc32(payload, zlib.crc32(struct.pack("<Qq", sequence, stamp_ns)))


def newest_whole(memory: mmap.mmap, capacity_bytes: int, last: Letter | None) -> Letter | None:
    """The newer slot if whole, else the other one; nothing older than `last`."""
    headers = [_SLOT.unpack_from(memory, slot_start(slot, capacity_bytes)) for slot in (0, 1)]
    for slot in sorted((0, 1), key=lambda at: -headers[at][0]):
        sequence, stamp_ns, length, check = headers[slot]
        if last is not None and sequence == last.sequence:
            return last
        if sequence == 0 or length > capacity_bytes or (last is not None and sequence < last.sequence):
            continue
        body = slot_start(slot, capacity_bytes) + _SLOT_HEADER_SIZE
        payload = memory[body : body + length]
        if checksum(sequence, stamp_ns, payload) == check:
            return Letter(payload, stamp_ns, sequence)
    return None


def is_empty(memory: mmap.mmap, capacity_bytes: int) -> bool:
    """Whether nothing was ever written."""
    return all(_SLOT.unpack_from(memory, slot_start(slot, capacity_bytes))[0] == 0 for slot in (0, 1))
