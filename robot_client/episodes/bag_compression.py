"""Bags that rosbag2 compressed itself: whole files (`.db3.zstd`), or every message of a file."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import zstandard

from contract.errors import EpisodeError
from robot_client.episodes.bag_metadata import NAME, read_information
from robot_client.episodes.mcap_chunk import MAX_CHUNK_BYTES
from robot_client.episodes.raw_message import RawMessage

ENDING: Final = ".zstd"
_PIECE_BYTES: Final = 1024 * 1024


@contextmanager
def plain_file(file: Path) -> Iterator[Path]:
    """`file`, or what is in it if it is compressed, for the time of the block; on the disk, not in memory.

    Raises `EpisodeError` when it does not decompress.
    """
    if file.suffix != ENDING:
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="yam-bag-") as folder:
        out = Path(folder) / file.with_suffix("").name
        try:
            with file.open("rb") as packed, out.open("wb") as unpacked:
                zstandard.ZstdDecompressor().copy_stream(packed, unpacked, _PIECE_BYTES, _PIECE_BYTES)
        except (OSError, zstandard.ZstdError) as error:
            raise EpisodeError(f"{file}", expected="a file compressed with zstd", got=str(error)[:100]) from error
        yield out


def plain_messages(folder: Path, messages: Iterable[RawMessage]) -> Iterator[RawMessage]:
    """Messages as they were before rosbag2 compressed each of them, if metadata.yaml says that it did.

    Raises `EpisodeError` for another compression, and for a message that does not decompress.
    """
    form = _message_compression(folder)
    if not form:
        yield from messages
        return
    if form != "zstd":
        raise EpisodeError(f"{folder / NAME}", expected="messages compressed with zstd", got=form)
    for message in messages:
        try:
            data = zstandard.ZstdDecompressor().decompress(message.data, max_output_size=MAX_CHUNK_BYTES)
        except zstandard.ZstdError as error:
            raise EpisodeError(f"a message on {message.topic}", expected="zstd", got=str(error)[:100]) from error
        yield dataclasses.replace(message, data=data)


def _message_compression(folder: Path) -> str:
    """Format of the compression of each message; empty when there is none."""
    information = read_information(folder)
    mode, form = str(information.get("compression_mode", "")), str(information.get("compression_format", ""))
    return form if mode.lower() == "message" else ""
