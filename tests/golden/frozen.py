"""Frozen frames as text: one line of hexadecimal digits for each frame of a multipart message.

`python -m tests.golden.frozen` shows what would change; `--accept` writes it. New files are written without it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from contract.codec import encode
from tests.golden.messages import EXCHANGE

FOLDER = Path(__file__).parent / "protocol1"


def encoded(name: str) -> list[bytes]:
    """Frames of a golden message as this release encodes them."""
    return [bytes(frame) for frame in encode(*EXCHANGE[name])]


def read_frames(path: Path) -> list[bytes]:
    """Frames of a frozen file."""
    return [bytes.fromhex(line) for line in path.read_text().splitlines()]


def freeze(folder: Path, accept: bool) -> list[str]:
    """Write files that are missing, and changed ones if `accept`; the names of changed ones that were left alone."""
    folder.mkdir(exist_ok=True)
    refused = []
    for name in EXCHANGE:
        path, frames = folder / f"{name}.hex", encoded(name)
        if path.exists() and read_frames(path) != frames and not accept:
            refused.append(name)
        elif not path.exists() or read_frames(path) != frames:
            path.write_text("".join(frame.hex() + "\n" for frame in frames))
    return refused


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.frozen")
    parser.add_argument("--accept", action="store_true", help="overwrite frozen bytes: the protocol changes")
    refused = freeze(FOLDER, parser.parse_args().accept)
    if refused:
        print(f"changed: {', '.join(refused)}. Raise PROTOCOL if peers would notice, then run with --accept.")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
