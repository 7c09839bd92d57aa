"""What the kernel does to a process that must be woken in time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from robot_client.doctor.lines import Line, ok, warn
from robot_client.realtime import cores_of

ROOT: Final = Path("/")
_CHOSEN: Final = re.compile(r"\((\w+)\)")


def check_kernel(root: Path = ROOT) -> Iterator[Line]:
    """Preemption, isolated cores and clock frequency; without them the loop runs, but is woken late now and then."""
    yield _preemption(root)
    yield _isolated(root)
    yield from _governor(root)


def _preemption(root: Path) -> Line:
    """A kernel that does not preempt itself lets a real-time process wait for every system call of another."""
    what = "kernel preemption"
    if _read(root / "sys/kernel/realtime") == "1":
        return ok(what, "PREEMPT_RT")
    chosen = _CHOSEN.search(_read(root / "sys/kernel/debug/sched/preempt"))
    version = _read(root / "proc/version")
    mode = (
        chosen[1] if chosen else "dynamic" if "PREEMPT_DYNAMIC" in version else "full" if "PREEMPT" in version else ""
    )
    if mode == "full":
        return ok(what, "full")
    found = f"{mode}: the loop waits for system calls of others, a millisecond now and then"
    return warn(what, found, "boot with preempt=full, or a kernel with PREEMPT_RT")


def _isolated(root: Path) -> Line:
    what = "isolated cores"
    text = _read(root / "sys/devices/system/cpu/isolated")
    cores = cores_of(text) if text else []
    if cores:
        return ok(what, ", ".join(map(str, cores)))
    return warn(
        what, "none: the loop and the holders share their cores", "boot with isolcpus=LIST, three cores at best"
    )


def _governor(root: Path) -> Iterator[Line]:
    governors = {_read(p) for p in (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")}
    if not governors:
        return
    if governors == {"performance"}:
        yield ok("clock frequency", "governor performance")
    else:
        action = "sudo cpupower frequency-set -g performance"
        yield warn("clock frequency", f"governor {', '.join(sorted(governors))}: cores wake up slowly", action)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
