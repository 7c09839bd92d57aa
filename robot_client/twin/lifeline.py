"""Whether whoever started the twin is still there."""

from __future__ import annotations

import os
import select


def lifeline_cut(descriptor: int | None) -> bool:
    """Whether the other end of the lifeline is gone. Bytes on it mean nothing and are drained."""
    if descriptor is None:
        return False
    readable, _, _ = select.select([descriptor], [], [], 0)
    return bool(readable) and os.read(descriptor, 4096) == b""
