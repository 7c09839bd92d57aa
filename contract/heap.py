"""Image-sized memory is given back to the system and fetched anew, page by page, for every message, unless told not to.

For three 640x480 images that costs about 1 ms per replan on either side, more than sending them. Processes that
handle images call `keep_freed_memory` once at their start. They then hold on to their peak, at most `KEPT_BYTES` more
than they use.
"""

from __future__ import annotations

import ctypes
from typing import Final

KEPT_BYTES: Final = 256 * 1024 * 1024
_LARGEST_KEPT_BYTES: Final = 32 * 1024 * 1024
"""glibc's own upper limit for M_MMAP_THRESHOLD on 64-bit machines."""
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
"""Numbers of malloc.h."""


def keep_freed_memory() -> bool:
    """Let the C library keep freed blocks of image size; False where it has no such setting (not glibc)."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _LARGEST_KEPT_BYTES) and mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES))
