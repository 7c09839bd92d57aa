"""The person at the terminal of a run: keys, the leader they move, and a sign of life."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from contract.station import load_station
from robot_client.demo.controls import Controls
from robot_client.demo.interrupt import Interrupt
from robot_client.demo.processes import Processes
from robot_client.demo.settings import RunSettings
from robot_client.demo.view import Seen
from robot_client.teleop.side import present, required
from robot_client.terminal_keys import TerminalKeys


class Operator:
    """`choose_leader` before the processes start, then `act` ten times a second within `keys`."""

    def __init__(self, settings: RunSettings, interrupt: Interrupt, seen: Seen) -> None:
        self._settings, self._interrupt, self._seen = settings, interrupt, seen
        self._keys = TerminalKeys()
        self._controls: Controls | None = None

    @property
    def keys(self) -> AbstractContextManager[object]:
        """The terminal as long as the run lasts; nothing where nobody looks at it."""
        return nullcontext() if self._settings.headless else self._keys

    @property
    def present(self) -> bool:
        """Somebody can type."""
        return self._keys.present

    def choose_leader(self, processes: Processes) -> None:
        """What a hand moves. Raises `StackError` when the one that was asked for cannot be had."""
        settings = self._settings
        choose = present if settings.policy else required
        kind = choose(settings.leader, self._keys.present, load_station(settings.station))
        processes.leader_kind = kind
        self._controls = Controls(processes.tell, settings.policy, leader=kind is not None)

    def act(self, processes: Processes) -> None:
        """Passes on what was typed; a sign of life goes with it, so a screen that hangs is noticed."""
        side, controls = processes.leader, self._controls
        if controls is not None:
            controls.jog = side.press if side is not None and side.kind == "keyboard" else None
            for key in self._keys.take():
                controls.press(key)
            if controls.ended:
                self._interrupt.ask()
            self._seen.keys = controls.help if self._keys.present else ""
        processes.tell("alive")

    def take_over(self, processes: Processes) -> None:
        """Without a policy and without keys the leader is handed the arms as soon as it can have them."""
        status = self._seen.status
        if not self._settings.policy and not self._keys.present and status is not None and status.mode == "IDLE":
            processes.tell("teleop")
