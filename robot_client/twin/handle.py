"""Starting, asking and ending a twin process from its supervisor. No MuJoCo here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contract.errors import RigError
from robot_client.mailbox import MailboxReader, MailboxWriter, open_writer
from robot_client.rigs.base import Frame
from robot_client.twin.control import Exit, Park, Request, Reset, pack_request
from robot_client.twin.tasks import parse
from robot_client.twin.topics import JSON_BYTES, Status, camera_topic, path_of, unpack_frame, unpack_status

START_S: Final = 20.0
PARK_S: Final = 5.0
_LEAVE_S: Final = 2.0
_POLL_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class TwinArguments:
    """What to start a twin with; see `python -m robot_client.twin --help`."""

    seed: int = 0
    instruction: str = ""
    sizes: Mapping[str, tuple[int, int]] | None = None
    policy_hz: float | None = None
    overview_hz: float | None = None
    shadows: bool = False

    def command_line(self, run_dir: Path) -> list[str]:
        """The process's arguments."""
        line = [sys.executable, "-m", "robot_client.twin", "--run-dir", str(run_dir), "--seed", str(self.seed)]
        line += ["--lifeline-fd", "0", "--instruction", self.instruction]
        if self.sizes:
            line += ["--size", *(f"{role}={width}x{height}" for role, (width, height) in self.sizes.items())]
        for flag, rate in (("--policy-hz", self.policy_hz), ("--overview-hz", self.overview_hz)):
            line += [flag, f"{rate:g}"] if rate is not None else []
        return [*line, "--shadows"] if self.shadows else line


class TwinHandle:
    """A running twin process.

    Made by `start_twin`; its stdin is the lifeline, so it parks and ends when we are gone.
    """

    def __init__(
        self, run_dir: Path, process: subprocess.Popen[bytes], control: MailboxWriter, log: Path, *, films: bool
    ) -> None:
        self._process, self._control, self._log, self._films = process, control, log, films
        self._status = MailboxReader(path_of(run_dir, "status"))
        self._overview = MailboxReader(path_of(run_dir, camera_topic("overview")))

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def status(self) -> Status | None:
        """The newest status of this process; None before the first."""
        letter = self._status.newest()
        status = unpack_status(letter) if letter else None
        return status if status and status.process == self._process.pid else None

    def overview(self) -> Frame | None:
        """The newest overview picture."""
        letter = self._overview.newest()
        return unpack_frame("overview", letter) if letter else None

    def wait_ready(self, timeout_s: float = START_S) -> Status:
        """The first status after frames have been filmed.

        `RigError` with the process's last words when it ends or takes too long.
        """
        return self._wait(lambda status: status.frames > 0 or not self._films, "the first frames", timeout_s)

    def reset(self, seed: int, instruction: str = "", timeout_s: float = 2.0) -> Status:
        """Arrange another layout and wait until it stands; `VocabularyError` on an instruction nobody could follow."""
        if instruction:
            parse(instruction)
        return self._ask(Reset(seed, instruction), timeout_s)

    def park(self, timeout_s: float = PARK_S) -> Status:
        """Brake and fold the arms outward; returns when they are parked."""
        self._ask(Park(), timeout_s)
        return self._wait(lambda status: status.state == "parked", "parked arms", timeout_s)

    def close(self, *, park: bool = True, timeout_s: float = PARK_S) -> int:
        """End the process, parking first; kills it when it does not end in time. Returns its exit code."""
        if self.alive():
            self._control.put(pack_request(Exit(park)), time.monotonic_ns())
        try:
            code = self._process.wait(timeout_s if park else min(timeout_s, _LEAVE_S))
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._killed()
        if self._process.stdin is not None:
            self._process.stdin.close()
        for mailbox in (self._status, self._overview, self._control):
            mailbox.close()
        return code

    def _killed(self) -> int:
        """The exit code after a kill; that of the signal while the kernel does not let the process go."""
        try:
            return self._process.wait(_LEAVE_S)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL

    def _ask(self, request: Request, timeout_s: float) -> Status:
        number = self._control.put(pack_request(request), time.monotonic_ns())
        return self._wait(lambda status: status.control_done >= number, "an answer to a request", timeout_s)

    def _wait(self, ready: Callable[[Status], bool], what: str, timeout_s: float) -> Status:
        end_s = time.monotonic() + timeout_s
        while time.monotonic() < end_s:
            status = self.status()
            if status is not None and ready(status):
                return status
            if not self.alive():
                raise RigError(
                    "twin process", expected=what, got=f"exit code {self._process.returncode}: {self._words()}"
                )
            time.sleep(_POLL_S)
        raise RigError("twin process", expected=f"{what} in {timeout_s:g} s", got=self._words() or "silence")

    def _words(self) -> str:
        """The last line the process wrote."""
        lines = self._log.read_text(errors="replace").strip().splitlines() if self._log.exists() else []
        return lines[-1] if lines else ""


def start_twin(run_dir: Path, arguments: TwinArguments | None = None) -> TwinHandle:
    """Start a twin process in its own session.

    Call `wait_ready` before relying on it. Its messages go to `run_dir/twin.log`.
    """
    chosen = arguments or TwinArguments()
    log = run_dir / "twin.log"
    with log.open("wb") as words:
        process = subprocess.Popen(
            chosen.command_line(run_dir),
            stdin=subprocess.PIPE,
            stdout=words,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=dict(os.environ),
        )
    control = open_writer(path_of(run_dir, "control"), JSON_BYTES)
    return TwinHandle(run_dir, process, control, log, films=chosen.policy_hz != 0 or chosen.overview_hz != 0)
