"""Real-time rights of a process: asked for once, each reported as got or refused with how to get it."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
from typing import Final

PRIORITY: Final = 50
"""SCHED_FIFO priority: above ordinary work, below the kernel's own threads."""
_MCL_CURRENT, _MCL_FUTURE = 1, 2


def take_rights() -> dict[str, str]:
    """Name of the right -> "got" or why not. Never raises."""
    return {"scheduler": fifo(), "memory lock": lock_memory(), "garbage": freeze_garbage()}


def fifo(priority: int = PRIORITY) -> str:
    """SCHED_FIFO for this process."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except (OSError, AttributeError) as error:
        return f"refused: {error}; allow it with `ulimit -r {priority}` or the capability CAP_SYS_NICE"
    return f"got SCHED_FIFO {priority}"


def lock_memory() -> str:
    """No page of this process is ever swapped out.

    Under a finite limit only what is there is locked: locking the future too would make later allocations fail.
    """
    limited = os.geteuid() != 0 and resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] != resource.RLIM_INFINITY
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(_MCL_CURRENT if limited else _MCL_CURRENT | _MCL_FUTURE) != 0:
        why = os.strerror(ctypes.get_errno())
        return f"refused: {why}; allow it with `ulimit -l unlimited` or the capability CAP_IPC_LOCK"
    return "got mlockall of what was there" if limited else "got mlockall"


def freeze_garbage() -> str:
    """The collector leaves everything made so far alone."""
    gc.collect()
    gc.freeze()
    return "got gc.freeze"
