"""What systemd-logind does to the processes and files of a user who logs out. Holders outlive the login."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from robot_client.doctor.lines import Line, fail, ok, warn

_MANAGER: Final = ("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager")
_ANSWER_S: Final = 2.0
_LINGER: Final = Path("/var/lib/systemd/linger")
_FIRST_USER: Final = 1000
"""System users keep their files (logind.conf, RemoveIPC)."""


def logind_says(name: str) -> bool | None:
    """A property of logind's manager; None where there is no logind that answers."""
    try:
        answer = subprocess.run(
            ["busctl", "get-property", *_MANAGER, name], capture_output=True, text=True, timeout=_ANSWER_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return {"b true": True, "b false": False}.get(answer.stdout.strip())


def check_logout(
    says: Callable[[str], bool | None] = logind_says, linger: Path = _LINGER, user: int | None = None
) -> Iterator[Line]:
    """A killed holder drops its arm; one whose files are deleted makes them anew, and its client must start anew."""
    user = os.getuid() if user is None else user
    kills, removes = says("KillUserProcesses"), says("RemoveIPC")
    if kills is None and removes is None:
        return
    if kills and user:  # KillExcludeUsers=root
        action = "KillUserProcesses=no in /etc/systemd/logind.conf, then start the computer anew"
        yield fail(
            "logging out, processes", "kills the holders: raised arms would fall (KillUserProcesses=yes)", action
        )
    else:
        yield ok("logging out, processes", "holders live on")
    if removes and user >= _FIRST_USER and not _lingers(user, linger):
        found = "deletes the holders' files in shared memory: a client that still runs must start anew (RemoveIPC=yes)"
        yield warn("logging out, files", found, "loginctl enable-linger, or RemoveIPC=no in /etc/systemd/logind.conf")
    else:
        yield ok("logging out, files", "stay")


def _lingers(user: int, linger: Path) -> bool:
    try:
        return (linger / pwd.getpwuid(user).pw_name).exists()
    except KeyError:  # no name, so nobody can have asked for it
        return False
