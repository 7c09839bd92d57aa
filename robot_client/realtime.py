"""Real-time rights of a process: asked for once, each reported as got or refused with how to get it."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
from pathlib import Path
from typing import Final

PRIORITY: Final = 50
"""SCHED_FIFO priority: above ordinary work, below the kernel's own threads."""
_MCL_CURRENT, _MCL_FUTURE = 1, 2
_ISOLATED: Final = Path("/sys/devices/system/cpu/isolated")


def take_rights(place: int = 0) -> dict[str, str]:
    """Name of the right -> "got" or why not. Never raises. `place` tells the real-time processes of one robot apart:
    0 is the loop, 1 and 2 the holders of the arms."""
    return {
        "scheduler": fifo(),
        "processor": pin(place),
        "memory lock": lock_memory(),
        "garbage": freeze_garbage(),
    }


def pin(place: int = 0, isolated: Path = _ISOLATED) -> str:
    """A core of its own for this process, from those that the kernel keeps free of others.

    Only from those: on a core that others use too, a process that may not leave waits for another real-time process or
    a long system call there, while the kernel would have moved it. Nothing was gained by it when it was measured.
    """
    try:
        cores = cores_of(isolated.read_text(encoding="ascii")) if isolated.is_file() else []
    except (OSError, ValueError) as error:
        return f"refused: {error}"
    if place >= len(cores):
        return f"refused: {len(cores)} cores are kept free; boot with isolcpus=LIST for one a real-time process"
    core = cores[-1 - place]
    try:
        os.sched_setaffinity(0, {core})
    except (OSError, AttributeError) as error:
        return f"refused: core {core}: {error}; widen the process's cpuset"
    return f"got core {core}"


def cores_of(text: str) -> list[int]:
    """Numbers of a kernel's list such as "2-3,5", in rising order. Raises ValueError on other text."""
    cores: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cores |= set(range(int(first), int(last or first) + 1))
    return sorted(cores)


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
