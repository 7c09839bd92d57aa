"""`python -m tests.fuzz.coverage_guided`: atheris drives the codec by coverage. Needs `pip install atheris`.

Bytes are cut into frames by a length before each, so that the fuzzer can make any multipart message. Whatever is no
message must be a `StackError`; any other exception ends the run with the bytes that caused it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["contract"]):
    from contract.codec import decode, encode, request_id_of
    from contract.errors import StackError

from tests.fuzz.mutate import corpus


def frames_of(data: bytes) -> list[bytes]:
    """Frames from a two-byte length before each."""
    frames, at = [], 0
    while at + 2 <= len(data) and len(frames) < 80:
        size = int.from_bytes(data[at : at + 2], "big")
        frames.append(data[at + 2 : at + 2 + size])
        at += 2 + size
    return frames


def one_input(data: bytes) -> None:
    """Decode; what decodes must encode again to something that decodes to the same kind."""
    frames = frames_of(data)
    request_id_of(frames)
    try:
        envelope = decode(frames)
    except StackError:
        return
    again = decode([bytes(frame) for frame in encode(envelope.message, envelope.request_id)])
    if type(again.message) is not type(envelope.message):
        raise AssertionError(f"{envelope.message} became {again.message}")


def main() -> None:
    """Seeds are the good messages; `-runs=N` and every other option of libFuzzer is passed on."""
    with tempfile.TemporaryDirectory() as seeds:
        for i, frames in enumerate(corpus(1)):
            data = b"".join(len(frame).to_bytes(2, "big") + frame for frame in frames)
            (Path(seeds) / f"{i}").write_bytes(data)
        atheris.Setup([*sys.argv, seeds], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
