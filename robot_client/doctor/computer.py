"""What the computer grants: real-time rights and room on its disks."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from robot_client.doctor.lines import Line, fail, ok, warn
from robot_client.mailbox import memory_directory
from robot_client.realtime import PRIORITY

_GB: Final = 1_000_000_000
LOW_BYTES: Final = 20 * _GB
"""An hour of three lossless cameras."""
EMPTY_BYTES: Final = 1 * _GB
_MAILBOX_BYTES: Final = 100_000_000


def check_rights() -> Iterator[Line]:
    """Scheduler and locked memory; without them the loop runs, but late now and then."""
    root = os.geteuid() == 0
    priority = resource.getrlimit(resource.RLIMIT_RTPRIO)[0]
    if root or priority < 0 or priority >= PRIORITY:
        yield ok("real-time scheduling", f"SCHED_FIFO {PRIORITY} is allowed")
    else:
        action = f"add '@robot - rtprio {PRIORITY}' to /etc/security/limits.conf and log in again"
        yield warn("real-time scheduling", f"refused (rtprio {priority})", action)
    locked = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    if root or locked == resource.RLIM_INFINITY:
        yield ok("locked memory", "allowed")
    else:
        action = "add '@robot - memlock unlimited' to /etc/security/limits.conf and log in again"
        yield warn("locked memory", f"limited to {locked // 1024} KiB", action)


def check_disk(out: Path) -> Iterator[Line]:
    """Where episodes go, and where the mailboxes live."""
    place = next(folder for folder in (out, *out.absolute().parents) if folder.is_dir())
    free = shutil.disk_usage(place).free
    what, found = f"disk of {out}", f"{free / _GB:.0f} GB free"
    if free < EMPTY_BYTES:
        yield fail(what, found, "make room; recording would stop within minutes")
    elif free < LOW_BYTES:
        yield warn(what, found, f"make room for {LOW_BYTES // _GB} GB, about an hour of lossless cameras")
    else:
        yield ok(what, found)
    memory = shutil.disk_usage(memory_directory()).free
    if memory < _MAILBOX_BYTES:
        yield fail("shared memory", f"{memory / 1e6:.0f} MB free", f"make room in {memory_directory()}")
    else:
        yield ok("shared memory", f"{memory / 1e6:.0f} MB free in {memory_directory()}")
