"""The twin's own process: physics in real time, measurements out, commands in, until told to end or left alone."""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType
from typing import Final

from contract.errors import StackError
from robot_client.mailbox import MailboxReader, open_writer
from robot_client.pacer import Periods
from robot_client.twin.cameras import DEFAULT_SIZES, Size, checked_sizes
from robot_client.twin.control import Exit, Park, Request, Reset, unpack_request
from robot_client.twin.driver import Driver, State
from robot_client.twin.filming import Filming, Snapshot, rates
from robot_client.twin.judge import Judge, misplaced
from robot_client.twin.layouts import Layout
from robot_client.twin.lifeline import lifeline_cut
from robot_client.twin.scene import STEP_S, build_model
from robot_client.twin.settings import TwinSettings, layout_of
from robot_client.twin.topics import (
    JOINTS_BYTES,
    JSON_BYTES,
    Status,
    pack_joints,
    pack_status,
    path_of,
    unpack_command,
)
from robot_client.twin.world import World

_STEP_NS: Final = round(STEP_S * 1e9)
_MOST_CATCH_UP: Final = 20
_SLOW_EVERY: Final = 10
"""Status, control and lifeline are looked at every so many steps."""
_SWITCH_S: Final = 0.0005
"""The camera thread may keep the interpreter this long before physics gets it back."""


class TwinProcess:
    """Everything one twin process does. `run` returns when it is over."""

    def __init__(self, settings: TwinSettings) -> None:
        self._settings = settings
        self._sizes = checked_sizes({**DEFAULT_SIZES, **{r: Size(*wh) for r, wh in settings.sizes.items()}})
        self._ending = self._leaving = False
        self._steps = self._control_done = 0

    def run(self) -> None:
        """Open, step until the end, close. `StackError` when something cannot be opened or the cameras fail."""
        settings = self._settings
        self._world = World(build_model(self._sizes))
        self._driver = Driver(self._world)
        self._open_mailboxes()
        self._start(settings.layout())
        self._snapshot = Snapshot(self._world.data)
        self._filming = Filming(
            self._world.model,
            self._snapshot,
            settings.run_dir,
            self._sizes,
            rates(settings.policy_hz, settings.overview_hz),
            shadows=settings.shadows,
        )
        _install_signals(self)
        sys.setswitchinterval(_SWITCH_S)
        self._filming.start()
        try:
            self._filming.wait_open()
            self._loop()
        finally:
            self._filming.finish()
            self._close_mailboxes()

    def end(self, *, park: bool) -> None:
        """Ask the loop to end, by way of the park pose or at once."""
        self._ending, self._leaving = self._ending or park, self._leaving or not park

    def _loop(self) -> None:
        self._pacer = Periods(time.monotonic_ns(), _STEP_NS, _MOST_CATCH_UP)
        while not (self._leaving or (self._ending and self._driver.state is State.PARKED)):
            now_ns = time.monotonic_ns()
            steps = self._pacer.due(now_ns)
            if steps:
                self._advance(steps, now_ns)
            else:
                time.sleep(max(0.0, (self._pacer.next_ns - now_ns) / 1e9))
        self._publish_status()

    def _advance(self, steps: int, now_ns: int) -> None:
        self._take_command(now_ns)
        if self._ending:
            self._driver.park(now_ns)
        self._driver.tick(now_ns)
        self._world.step(steps)
        slow = (self._steps + steps) // _SLOW_EVERY > self._steps // _SLOW_EVERY
        self._steps += steps
        self._joints.put(pack_joints(self._world.positions(), self._world.velocities()), now_ns)
        self._snapshot.take(self._world.data, now_ns)
        if slow:
            self._slow_work(now_ns)

    def _slow_work(self, now_ns: int) -> None:
        self._verdict = self._judge.look()
        if lifeline_cut(self._settings.lifeline_fd):
            self.end(park=True)
        if self._filming.error is not None:
            raise self._filming.error
        letter = self._control.newer_than(self._control_done)
        if letter is not None:
            self._obey(unpack_request(letter), now_ns)
            self._control_done = letter.sequence
        self._publish_status()

    def _obey(self, request: Request, now_ns: int) -> None:
        if isinstance(request, Reset):
            self._start(layout_of(request.seed, request.instruction))
        elif isinstance(request, Park):
            self._driver.park(now_ns)
        elif isinstance(request, Exit):
            self.end(park=request.park)

    def _start(self, layout: Layout) -> None:
        self._layout = layout
        self._world.reset(layout)
        self._driver.restart()
        self._judge = Judge(self._world, layout.task)
        self._verdict = self._judge.look()

    def _take_command(self, now_ns: int) -> None:
        letter = self._command.newest()
        if letter is not None:
            self._driver.take(letter.sequence, letter.stamp_ns, unpack_command(letter), now_ns)

    def _publish_status(self) -> None:
        status = Status(
            process=os.getpid(),
            seed=self._layout.seed,
            instruction=self._layout.task.instruction,
            arm=self._layout.arm,
            phase=self._verdict.phase.value,
            success=self._verdict.success,
            misplaced=misplaced(self._world, self._layout.task) or "",
            state=self._driver.state.value,
            time_s=self._world.time_s,
            steps=self._steps,
            overruns=self._pacer.skipped,
            refused_commands=self._driver.refused,
            control_done=self._control_done,
            frames=self._filming.frames,
        )
        self._status.put(pack_status(status), time.monotonic_ns())

    def _open_mailboxes(self) -> None:
        folder = self._settings.run_dir
        self._joints = open_writer(path_of(folder, "joints"), JOINTS_BYTES)
        self._status = open_writer(path_of(folder, "status"), JSON_BYTES)
        self._command = MailboxReader(path_of(folder, "command"))
        self._control = MailboxReader(path_of(folder, "control"))
        old = self._control.newest()
        self._control_done = old.sequence if old else 0

    def _close_mailboxes(self) -> None:
        for mailbox in (self._joints, self._status, self._command, self._control):
            mailbox.close()


def run(settings: TwinSettings) -> int:
    """Check the settings and run; the exit code. Errors go to stderr as one line."""
    try:
        settings.check()
        TwinProcess(settings).run()
    except StackError as error:
        print(f"twin: {error}", file=sys.stderr)
        return 2
    return 0


def _install_signals(process: TwinProcess) -> None:
    """SIGTERM ends at once. Ctrl-C belongs to the supervisor when there is one, and otherwise parks and ends."""

    def leave(number: int, frame: FrameType | None) -> None:
        process.end(park=False)

    def park(number: int, frame: FrameType | None) -> None:
        process.end(park=True)

    supervised = process._settings.lifeline_fd is not None
    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN if supervised else park)
