"""`client`: robot_client's loop and planner as a lifecycle node.

configure starts both and matches contract and policy, without torque; activate turns torque on (told seeded from where
the arms are); deactivate holds; cleanup and shutdown leave the arms held and close everything. The control loop is a
process of its own: nothing in this node is ever waited for by it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Final

from contract.errors import RigError
from contract.station import load_station
from robot_client.episodes.ros_time import ros_time_now
from robot_client.local_messages import LocalMessage, LoopStatus, PersonAct, PlanFailure, PolicyReady
from robot_client.modes import TORQUE_ON, Mode
from yam_vam.bridge_state import BridgeState
from yam_vam.client_parameters import PARAMETERS, crew_settings
from yam_vam.client_words import facts_of, farewell, last_word, notes_of_run, readiness
from yam_vam.crew import Crew
from yam_vam.description import advertise_description
from yam_vam.diagnostics import Diagnostics
from yam_vam.doors import Doors
from yam_vam.managed import ManagedNode
from yam_vam.running import run_node
from yam_vam.speaker import BY_THE_ARMS, Speaker
from yam_vam.torque import TorqueOn
from yam_vam.waiting import Waiting

PUMP_S: Final = 0.01
ARMED_S: Final = 5.0
HELD_S: Final = 2.0
_TORQUE: Final = frozenset(mode.value for mode in TORQUE_ON)


class ClientNode(ManagedNode):
    """`status` is the loop's newest word."""

    def __init__(self, told_to_end: Callable[[], int]) -> None:
        super().__init__("client", PARAMETERS, told_to_end)
        self.crew: Crew | None = None
        """Loop, planner and bridge, while there are some."""
        self._speaker: Speaker | None = None
        self._bridge: BridgeState | None = None
        self._diagnostics: Diagnostics | None = None
        self.status: LoopStatus | None = None
        self.policy: PolicyReady | None = None
        self._failure = ""
        self._pumping = False
        self._values: dict[str, Any] = {}
        self._facts: dict[str, str] = {}
        self.waiting = Waiting(self.pump, self.tell, told_to_end, lambda: self._failure or last_word(self.status))
        self.doors = Doors(self)
        self.create_timer(PUMP_S, self.pump)

    def begin(self) -> None:
        """Before anything else: ~/hold is answered."""
        self.doors.open()

    def end(self) -> None:
        """After the arms are left held, ~/hold is answered no more."""
        super().end()
        self.doors.close()

    @property
    def mode(self) -> str:
        """Mode of the loop; empty before its first word."""
        return "" if self.status is None else self.status.mode

    @property
    def trouble(self) -> str:
        """Why nothing may be engaged now: topics that do not fit together, joints that are refused."""
        lines = [*self.watch.troubles.values(), *([self._bridge.trouble()] if self._bridge is not None else [])]
        return "; ".join(line for line in lines if line)

    def up(self, values: dict[str, Any]) -> None:
        """Start loop and planner; wait for the loop's first word and, with a server, for a policy that fits."""
        settings = crew_settings(values, self.get_namespace())
        station = load_station(values["station"])
        self._values, self.status, self.policy, self._failure = values, None, None, ""
        ros_time = ros_time_now()
        silent = BY_THE_ARMS if values["rig"] == "ros" else frozenset()
        self._speaker = Speaker(self.watch, ros_time, time.monotonic_ns, silent)
        self._speaker.open(notes_of_run(values, station, ros_time), [camera.role for camera in station.cameras])
        advertise_description(self.watch, station)
        self._facts = facts_of(values["rig"], station)
        self.crew = Crew(settings)
        self.crew.start()
        if values["rig"] == "ros":
            self._bridge = BridgeState(self.crew.run_dir)
        self._diagnostics = Diagnostics(self, self._report)
        need = "a policy that fits" if settings.planner is not None else "the loop's first word"
        self.waiting.required(
            lambda: self._ready(settings.planner is not None), need, float(values["server_timeout_s"])
        )
        self._say_ready()

    def arm(self) -> None:
        """Torque on; the arms stand where they are."""
        if self.trouble:
            raise RigError("activation", expected="topics that fit together", got=self.trouble)
        torque = TorqueOn(self.status, self.by_itself)
        on = lambda: self.mode == Mode.IDLE.value  # noqa: E731
        self.waiting.telling(lambda: torque.act(self.status), on, "torque on", ARMED_S)
        if self._values["on_activate"] != "nothing":
            self.tell(self._values["on_activate"])

    def disarm(self) -> None:
        """Brake and hold; torque stays on."""
        self.pump()
        if self.mode in _TORQUE:
            self.waiting.telling(lambda: "hold", lambda: self.mode == Mode.HOLD.value, "HOLD", HELD_S)

    def down(self) -> None:
        """Leave the arms held and end loop, planner and bridge. The last line says how the arms are left."""
        for part in (self._diagnostics, self._bridge):
            if part is not None:
                part.close()
        self._diagnostics = self._bridge = None
        if self.crew is None:
            return
        crew, self.crew = self.crew, None
        calls = self.told_to_end()
        code = crew.end(self._take, impatient=lambda: self.told_to_end() > max(calls, 1))
        self.doors.close_mailbox()
        self._speaker = None
        said = self.get_logger().error if code else self.get_logger().info
        said(farewell(self.status, code))
        if code and self.status is not None:
            self.exit_code = 1

    def tell(self, act: PersonAct, text: str = "") -> bool:
        """Pass a person's act to the loop; whether there is a loop. From any thread: one datagram, nothing waits."""
        crew = self.crew
        if crew is not None:
            crew.tell(act, text)
        return crew is not None

    def pump(self) -> None:
        """Take what loop and planner said, and publish it. Called by a timer, and in every wait."""
        if self.crew is None or self._pumping:
            return
        self._pumping = True
        try:
            for message in self.crew.messages():
                self._take(message)
            for number, fed in self.crew.feed():
                if self._speaker is not None:
                    self._speaker.fed(fed, number)
        finally:
            self._pumping = False
        dead = self.crew.dead()
        if dead and not self.over and self.state != "unconfigured":
            self.fail(f"{dead}; the arms hold, and nothing is started again by itself")

    def _take(self, message: LocalMessage) -> None:
        if isinstance(message, LoopStatus):
            self.status = message
        elif isinstance(message, PolicyReady):
            self.policy = message
        elif isinstance(message, PlanFailure):
            self._failure = message.text
            self.get_logger().warning(f"no plan: {message.text}", throttle_duration_sec=2.0)
        if self._speaker is not None:
            self._speaker.local(message)

    def _ready(self, with_policy: bool) -> bool:
        dead = self.crew.dead() if self.crew is not None else "nothing was started"
        if dead:
            raise RigError("configure", expected="loop and planner", got=dead, remedy=f"see {self._values['logs']}")
        return self.status is not None and (self.policy is not None or not with_policy)

    def _say_ready(self) -> None:
        self.get_logger().info(f"arms: {self._facts['arms']}")
        for line in readiness(self.policy, self.status):
            self.get_logger().info(line)

    def _report(self) -> tuple[bool, str, dict[str, object]]:
        values: dict[str, object] = {"state": self.state, "mode": self.mode, **self._facts}
        values |= {"trouble": self.trouble, "last failed plan": self._failure}
        if self._bridge is not None:
            values |= self._bridge.values()
        return not self.trouble, last_word(self.status) or self.state, {**values, **self.doors.counts}

    def changed(self, name: str, value: Any) -> None:
        """The instruction may change at any time; everything else is read at configure."""
        if name == "instruction":
            self.tell("instruction", str(value))


def main() -> int:
    """Entry point."""
    return run_node(ClientNode)


if __name__ == "__main__":
    sys.exit(main())
