"""Latest-value mailboxes between processes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.errors import ConfigurationError, RigError
from robot_client.mailbox import MailboxReader, memory_directory, open_writer
from robot_client.mailbox_file import create_if_missing


def test_reading_a_mailbox_that_does_not_exist_yet_gives_nothing(tmp_path: Path) -> None:
    reader = MailboxReader(tmp_path / "joints")
    assert reader.newest() is None
    open_writer(tmp_path / "joints", 8)
    assert reader.newest() is None


@given(payloads=st.lists(st.binary(max_size=40), min_size=1, max_size=6), stamp_ns=st.integers(-(2**63), 2**63 - 1))
def test_a_reader_gets_the_newest_value_its_stamp_and_number(
    tmp_path_factory: pytest.TempPathFactory, payloads: list[bytes], stamp_ns: int
) -> None:
    path = tmp_path_factory.mktemp("mail") / "box"
    writer, reader = open_writer(path, 40), MailboxReader(path)
    for number, payload in enumerate(payloads, start=1):
        assert writer.put(payload, stamp_ns) == number
        letter = reader.newest()
        assert letter is not None
        assert (letter.payload, letter.stamp_ns, letter.sequence) == (payload, stamp_ns, number)
    assert reader.newer_than(len(payloads)) is None
    assert reader.newer_than(len(payloads) - 1) is letter


@given(flip=st.integers(0, 32 + 64 - 1), bit=st.integers(0, 7))
def test_a_damaged_newest_slot_gives_the_value_before_it_and_never_wrong_bytes(
    tmp_path_factory: pytest.TempPathFactory, flip: int, bit: int
) -> None:
    """Whatever byte of the slot is torn, a reader gets the older whole value; padding bytes do not matter."""
    path = tmp_path_factory.mktemp("mail") / "box"
    writer = open_writer(path, 64)
    writer.put(b"o" * 64, 1)
    writer.put(b"n" * 64, 2)
    data = bytearray(path.read_bytes())
    data[64 + flip] ^= 1 << bit  # number 2 lies in slot 0, just behind the head
    path.write_bytes(data)
    letter = MailboxReader(path).newest()
    padding = range(28, 32)
    assert letter is not None
    assert letter.payload == (b"n" * 64 if flip in padding else b"o" * 64)


def test_an_array_goes_through_unchanged(tmp_path: Path) -> None:
    image = np.random.default_rng(1).integers(0, 255, (48, 64, 3), np.uint8)
    writer, reader = open_writer(tmp_path / "box", image.nbytes), MailboxReader(tmp_path / "box")
    writer.put(image.data, 5)
    letter = reader.newest()
    assert letter is not None
    np.testing.assert_array_equal(np.frombuffer(letter.payload, np.uint8).reshape(image.shape), image)


def test_a_value_larger_than_the_mailbox_is_refused_and_the_old_one_stays(tmp_path: Path) -> None:
    writer, reader = open_writer(tmp_path / "box", 4), MailboxReader(tmp_path / "box")
    writer.put(b"good", 1)
    with pytest.raises(RigError, match="at most 4 bytes"):
        writer.put(b"large", 2)
    letter = reader.newest()
    assert letter is not None
    assert letter.payload == b"good"


def test_a_second_live_writer_is_refused_and_a_later_one_continues_the_numbering(tmp_path: Path) -> None:
    first = open_writer(tmp_path / "box", 4)
    first.put(b"1", 1)
    first.put(b"2", 2)
    with pytest.raises(RigError, match="live process"):
        open_writer(tmp_path / "box", 4)
    first.close()
    assert open_writer(tmp_path / "box", 4).put(b"3", 3) == 3


@pytest.mark.parametrize("capacity", [0, -1, True, 1 << 40])
def test_capacities_out_of_range_are_refused(tmp_path: Path, capacity: int) -> None:
    with pytest.raises(ConfigurationError):
        open_writer(tmp_path / "box", capacity)
    assert list(tmp_path.iterdir()) == []


def test_another_capacity_or_another_file_is_named_and_not_overwritten(tmp_path: Path) -> None:
    open_writer(tmp_path / "box", 4).close()
    with pytest.raises(RigError, match="fresh run directory"):
        open_writer(tmp_path / "box", 8)
    (tmp_path / "letter").write_bytes(b"not a mailbox")
    with pytest.raises(RigError, match="a mailbox"):
        MailboxReader(tmp_path / "letter").newest()


def test_all_of_its_memory_is_there_before_the_first_value(tmp_path: Path) -> None:
    """A page first touched by a value on a full file system ends the writer by SIGBUS: a holder would drop its arm.
    Also for a file that an older program left with holes."""
    for name in ("new", "old"):
        path = tmp_path / name
        if name == "old":
            create_if_missing(path, 100_000)
        open_writer(path, 100_000).close()
        assert path.stat().st_blocks * 512 >= path.stat().st_size


def test_a_mailbox_that_finds_no_room_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, offset: int, size: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(RigError, match=r"mailbox .*box: expected \d+ bytes of memory, got No space left"):
        open_writer(tmp_path / "box", 8)
    monkeypatch.undo()
    open_writer(tmp_path / "box", 8).put(b"room", 1)


def test_both_sides_notice_that_their_file_was_deleted_or_replaced(tmp_path: Path) -> None:
    writer, reader = open_writer(tmp_path / "box", 8), MailboxReader(tmp_path / "box")
    assert not reader.lost, "nothing was read yet"
    writer.put(b"old", 1)
    assert reader.newest() is not None and not reader.lost and not writer.lost
    (tmp_path / "box").unlink()
    assert reader.lost and writer.lost
    open_writer(tmp_path / "box", 8).put(b"new", 1)
    assert reader.lost and writer.lost
    reader.forget()
    letter = reader.newest()
    assert letter is not None and letter.payload == b"new" and not reader.lost


_HAMMER = """
import sys
from pathlib import Path
from robot_client.mailbox import open_writer
writer = open_writer(Path(sys.argv[1]), 20_000)
number = 0
while True:
    number += 1
    body = bytes([number % 251]) * (number % 20_000)
    writer.put(body, number)
"""


def test_two_processes_hammering_one_mailbox_never_see_a_torn_or_older_value() -> None:
    """A writer at full speed with values of changing length.

    Each value is one repeated byte told by its own number.
    """
    path = memory_directory() / f"yam-hammer-{time.monotonic_ns()}"
    child = subprocess.Popen([sys.executable, "-c", _HAMMER, str(path)])
    reader, seen, last, end_s = MailboxReader(path), 0, 0, time.monotonic() + 90
    try:
        while seen < 500 and time.monotonic() < end_s:
            letter = reader.newest()
            if letter is None or letter.sequence == last:
                continue
            assert letter.sequence > last
            assert letter.stamp_ns == letter.sequence
            number = letter.sequence
            assert zlib.crc32(letter.payload) == zlib.crc32(bytes([number % 251]) * (number % 20_000))
            seen, last = seen + 1, letter.sequence
    finally:
        child.kill()
        child.wait(60)
        path.unlink(missing_ok=True)
    assert child.returncode == -9, "the writer ended by itself"
    assert seen == 500
