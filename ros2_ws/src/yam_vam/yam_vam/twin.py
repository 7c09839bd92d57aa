"""`twin`: the simulated station as ROS topics, so that everything else cannot tell.

configure starts the simulation, activate publishes joints and cameras and takes /joint_commands, deactivate holds,
cleanup parks and ends it. The simulation itself is `python -m robot_client.twin`, in its own process.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from std_srvs.srv import Trigger

from contract.errors import RigError, StackError
from contract.station import Station, load_station
from robot_client.episodes.ros_time import RosTime, ros_time_now
from robot_client.mailbox import MailboxWriter, open_writer
from robot_client.rigs.base import Stop
from robot_client.rigs.mailbox_frames import MailboxFrames
from robot_client.rigs.sim import SimRig
from robot_client.run_folder import RunFolder, make_run_folder
from robot_client.twin.handle import TwinArguments, TwinHandle, start_twin
from robot_client.twin.topics import COMMAND_BYTES, Command, pack_command, path_of
from yam_vam.diagnostics import Diagnostics
from yam_vam.frame_topics import FrameTopics
from yam_vam.joint_states import message_of, part_of, vector_of
from yam_vam.managed import ManagedNode
from yam_vam.parameters import STATION, Parameter
from yam_vam.running import run_node
from yam_vam.topics import newest_only, table
from yam_vam.twin_joints import JointBeat

PARAMETERS: Final = (
    STATION,
    Parameter("seed", 0, "which layout", least=0, most=2**31 - 1),
    Parameter("instruction", "", "what the layout is about; empty leaves the choice to the seed"),
    Parameter("joint_hz", 100.0, "joint states a second", least=10.0, most=500.0),
    Parameter("run_dir", "", "folder of the simulation's mailboxes; empty: a temporary one"),
)
START_S: Final = 60.0
PARK_S: Final = 4.0


class TwinNode(ManagedNode):
    """Joints and cameras out, commands in."""

    def __init__(self, told_to_end: Callable[[], int]) -> None:
        super().__init__("twin", PARAMETERS, told_to_end)
        self._folder: RunFolder | None = None
        self._twin: TwinHandle | None = None
        self._rig: SimRig | None = None
        self._frames: FrameTopics | None = None
        self._command: MailboxWriter | None = None
        self._joints: JointBeat | None = None
        self._diagnostics: Diagnostics | None = None
        self._timer: Any = None
        self.refused = 0
        for name, how in (("hold", Stop.HOLD), ("relax", Stop.RELAX)):
            self.create_service(Trigger, f"~/{name}", lambda asked, answer, how=how: self._person(how, answer))

    def up(self, values: dict[str, Any]) -> None:
        """Start the simulation and wait for its first frames."""
        station = load_station(values["station"])
        run_dir = Path(values["run_dir"])
        if values["run_dir"]:
            run_dir.mkdir(parents=True, exist_ok=True)
        else:
            self._folder = make_run_folder("twin")
            run_dir = self._folder.path
        sizes = {camera.role: (camera.width, camera.height) for camera in station.cameras}
        rate_hz = max(camera.rate_hz for camera in station.cameras)
        arguments = TwinArguments(values["seed"], values["instruction"], sizes, policy_hz=rate_hz, overview_hz=0.0)
        self._twin = start_twin(run_dir, arguments)
        self._wait(self._twin)
        self._rig = SimRig(run_dir, ())
        self._command = open_writer(path_of(run_dir, "command"), COMMAND_BYTES)
        self._open_topics(station, run_dir, ros_time_now(), values["joint_hz"])
        self._diagnostics = Diagnostics(self, self._report)

    def arm(self) -> None:
        """Publish, and take commands."""
        self._publish(True)

    def disarm(self) -> None:
        """Hold; commands count no more."""
        self._publish(False)
        self._stop(Stop.HOLD)

    def down(self) -> None:
        """Park, end the simulation, close the topics."""
        if self._timer is not None:
            self.destroy_timer(self._timer)
        if self._joints is not None:
            self._joints.stop()
        self._timer = self._joints = None
        for part in (self._diagnostics, self._rig, self._frames, self._command):
            if part is not None:
                part.close()
        self._diagnostics = self._rig = self._frames = self._command = None
        if self._twin is not None:
            self._twin.close(park=not self.told_to_end(), timeout_s=PARK_S)
            self._twin = None
        if self._folder is not None:
            self._folder.remove()
            self._folder = None

    def _publish(self, going: bool) -> None:
        for part in (self._frames, self._joints):
            if part is not None:
                part.going = going

    def _wait(self, twin: TwinHandle) -> None:
        until_s = time.monotonic() + START_S
        while True:
            try:
                twin.wait_ready(0.5)
                return
            except RigError:
                if not twin.alive() or self.told_to_end() or time.monotonic() > until_s:
                    raise

    def _open_topics(self, station: Station, run_dir: Path, ros_time: RosTime, joint_hz: float) -> None:
        topics = table()
        states, commands = topics["/joint_states"], topics["/joint_commands"]
        joints = self.watch.advertise(states.name, states.kind, states.qos, alone=True)
        self.watch.subscribe(commands.name, commands.kind, newest_only(commands.qos), self._commanded, alone=True)
        self._frames = FrameTopics(self, station, MailboxFrames(run_dir, [camera.role for camera in station.cameras]))
        self._frames.open(self.watch, ros_time)
        self._joints = JointBeat(
            SimRig(run_dir, ()).joints,
            lambda reading: joints.publish(message_of(reading.positions, ros_time.of(reading.stamp_ns))),
            joint_hz,
        )
        self._joints.start()
        self._timer = self.create_timer(1.0, self._look_after)

    def _commanded(self, message: Any) -> None:
        """A whole command by name, or nothing at all."""
        if self.state != "active" or self._command is None:
            return
        try:
            target = vector_of([part_of(message)])
        except StackError as error:
            self.refused += 1
            self.get_logger().error(f"command refused: {error}", throttle_duration_sec=2.0)
            return
        self._command.put(pack_command(Command(target, None)), time.monotonic_ns())

    def _person(self, how: Stop, answer: Any) -> Any:
        self._stop(how)
        answer.success, answer.message = self._command is not None, f"{how.value}: the twin does it at once"
        return answer

    def _stop(self, how: Stop) -> None:
        if self._rig is not None and self._command is not None:
            target = self._rig.joints().positions
            self._command.put(pack_command(Command(target, how)), time.monotonic_ns())

    def _look_after(self) -> None:
        if self._twin is not None and not self._twin.alive():
            self.fail("the simulation ended by itself; see its log")
        elif self._joints is not None and not self._joints.alive():
            self.fail("the thread that publishes joints ended by itself; its last words are above")

    def _report(self) -> tuple[bool, str, dict[str, object]]:
        """How far the job on the table is, as the simulation itself judges it."""
        status = self._twin.status() if self._twin is not None else None
        if status is None:
            return False, "SIMULATED station, not running", {}
        done = "done" if status.success else status.misplaced or f"not done, {status.phase}"
        values = {"arms": status.state, "time_s": f"{status.time_s:.1f}", "late periods skipped": status.overruns}
        text = f"SIMULATED station: {status.instruction}: {done}"
        return True, text, {**values, "commands refused": self.refused, **self.watch.troubles}


def main() -> int:
    """Entry point."""
    return run_node(TwinNode)


if __name__ == "__main__":
    sys.exit(main())
