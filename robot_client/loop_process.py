"""`python -m robot_client.loop_process`: the control loop in its own process, for a supervisor to start and watch.

Arguments: `--config FILE` (JSON of `process_config.LoopConfig`), `--supervisor-fd N` and `--planner-fd M` (inherited
ends of `robot_client.channel.channel_pair`; `pass_fds` them and close them in the parent), and `--recorder-fd K` when
the run is recorded. Start it in a session of its own; it ignores SIGINT, and SIGTERM ends the run.

Reads from the supervisor: `PersonEvent`. Sends to it: `TickBatch` (every 20 ticks), `LoopStatus` (ten times a second
and at each change of mode; the last one has finished=True), and the same to the recorder. Sends to the planner:
`PlanRequest`. Reads from it: `PolicyReady`, `ActionChunk`, `PlanFailure`. All is in `robot_client.local_messages`.

A usual run: wait for a status with mode IDLE (torque on, with enable_on_start) and for `PolicyReady` from the planner,
send "instruction", then "engage": HANDOFF until the ramp to the first chunk is over, then POLICY. "finish", SIGTERM or
the end of the supervisor's channel: brake, HOLD, on sim and ideal rigs PARK, then exit, in 7 s at most. Exit code 0
when the arms were left held or parked, 1 when they were not (FAULT, FALLING), 2 when it could not start.
"""

from __future__ import annotations

import argparse
import signal
import sys
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final

from contract.errors import RigError, StackError
from contract.station import Station, load_station
from robot_client import local_codec
from robot_client.channel import Channel, channel_from_fd
from robot_client.clock import NS_PER_MS, NS_PER_S, Clock, MonotonicClock
from robot_client.ending import Ending
from robot_client.local_messages import PersonEvent, PolicyReady
from robot_client.loop import Loop
from robot_client.loop_inbox import LoopInbox
from robot_client.loop_sources import make_episode, make_leader, make_pilot, plan_settings
from robot_client.modes import Event, Mode
from robot_client.pacer import Pacer
from robot_client.process_config import LoopConfig, read_config
from robot_client.realtime import take_rights
from robot_client.reporter import Reporter
from robot_client.rigs.base import LetsGoWithCare, RaisesAlarms, Rig, Stop
from robot_client.rigs.choose import make_rig
from robot_client.safety.limits import Limits, limits_of
from robot_client.sources.base import Moment
from robot_client.sources.external import ExternalSource
from robot_client.sources.policy import PolicySource
from robot_client.teleop.source import TeleopSource
from robot_client.watchdogs import Watchdogs

_LETTING_GO: Final = {"relax": Stop.RELAX, "power_off": Stop.POWER_OFF}
SUPPORTED: Final = "supported"
"""Text of a person's "relax" or "power_off" that confirms: the arms are supported."""


class LoopProcess:
    """Everything of one loop process, put together. `run` returns when the run has ended."""

    def __init__(
        self,
        config: LoopConfig,
        station: Station,
        rig: Rig,
        clock: Clock,
        supervisor: Channel,
        planner: Channel,
        recorder: Channel | None = None,
    ) -> None:
        self._config, self._station, self._rig, self._clock = config, station, rig, clock
        self._period_ns = int(NS_PER_S / station.timing.loop_hz)
        limits = limits_of(station.safety, self._period_ns / NS_PER_S)
        parks_itself = config.rig in ("sim", "ideal")
        self.pilot = make_pilot(station, limits, parks_itself)
        self.pilot.instruction = config.instruction
        if config.episode:
            self.pilot.episode = make_episode(config, limits, parks_itself)
        self.ending = Ending(self.pilot, parks_itself)
        self._planner = planner
        self.leader = make_leader(config, clock)
        if self.leader is not None:
            self.pilot.teleop = TeleopSource(self.leader, station.teleop, limits)
        if config.external_dir:
            self.pilot.external = ExternalSource(Path(config.external_dir), limits)
        self.watchdogs = Watchdogs(station.watchdogs)
        make_policy = partial(self._policy, limits)
        self.inbox = LoopInbox(supervisor, planner, self.pilot, make_policy, self.end, self.watchdogs, clock)
        self.inbox.refusal = self._refusal
        self._alarm = rig.alarm if isinstance(rig, RaisesAlarms) else None
        self.reporter = Reporter(supervisor, self.pilot, {}, recorder, config.report_ticks)
        age_ns = int(station.timing.joints_max_age_ms * NS_PER_MS)
        self.loop = Loop(clock, rig, self.pilot, limits, age_ns, self._drain, self.reporter.record, self.watchdogs)
        self._to_enable = config.enable_on_start
        self._told_to_end = ""

    def end(self, why: str) -> None:
        """Brake and hold, then leave as the rig allows."""
        self.ending.begin(self._clock.now_ns(), why)

    def request_end(self, why: str) -> None:
        """For signal handlers: the next tick ends the run, so that no tick is torn in the middle."""
        self._told_to_end = why

    def run(self, notes: dict[str, str]) -> None:
        """Tick until the end; the last status says how the arms are left, also when an unplanned error ends it."""
        self.reporter.notes.update(notes)
        self._rig.open()
        with ExitStack() as leaving:  # each is done although another fails, the last one first
            leaving.callback(self._rig.close)
            if self.leader is not None:
                leaving.callback(self.leader.close)
                self.leader.open()
            leaving.callback(self._last_status)
            leaving.callback(self.reporter.flush)
            leaving.push(self._hold_after)
            self._tick_to_the_end()

    def _tick_to_the_end(self) -> None:
        pacer = Pacer(self._clock, self._period_ns)
        pacer.start()
        while not self.ending.done(self._clock.now_ns(), self.loop.resting):
            self.loop.tick(pacer.wait())
            self.reporter.status_if_due(self.loop, self._clock.now_ns())

    def _hold_after(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """After an error that nobody planned for: the rig holds if it still can, and the mode says FAULT."""
        if error is None:
            return
        self.pilot.happens(Event.RIG_FAILED, f"the loop failed: {type(error).__name__}: {error}"[:500])
        with suppress(RigError):
            self._rig.stop(Stop.HOLD)

    def _last_status(self) -> None:
        self.reporter.status(self.loop, self._clock.now_ns(), finished=True)

    def _drain(self, moment: Moment | None) -> None:
        if self._alarm is not None:
            self.reporter.notes["alarm"] = self._alarm()
        if self.pilot.teleop is not None:
            self.reporter.notes["teleop"] = self.pilot.teleop.waiting
        may_enable = self.loop.fresh
        if self._to_enable and may_enable:
            self._to_enable = False
            self.pilot.person(PersonEvent("enable"))
        self.inbox.drain(moment, may_enable)
        if self._told_to_end:
            self.end(self._told_to_end)

    def _refusal(self, event: PersonEvent) -> str:
        if refusal := self.ending.refusal(event.act):
            return refusal
        how = _LETTING_GO.get(event.act)
        if how is None or not isinstance(self._rig, LetsGoWithCare):
            return ""
        try:
            return self._rig.refusal(how, confirmed=event.text == SUPPORTED)
        except RigError as error:  # an arm that nobody holds yet
            return f"{event.act} refused: {error}"

    def _policy(self, limits: Limits, ready: PolicyReady) -> PolicySource:
        settings = plan_settings(self._config, self._station)
        return PolicySource(ready, settings, limits, partial(local_codec.send, self._planner))


def run_loop_process(
    config: LoopConfig,
    supervisor: Channel,
    planner: Channel,
    recorder: Channel | None = None,
    clock: Clock | None = None,
) -> int:
    """Run one loop process to its end; returns its exit code. A bench may bring a clock that takes notes."""
    station = load_station(config.station)
    clock = clock or MonotonicClock()
    process = LoopProcess(config, station, make_rig(config, station, clock), clock, supervisor, planner, recorder)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: process.request_end("SIGTERM"))
    process.run(take_rights() if config.realtime else {"scheduler": "not asked for"})
    state = process.pilot.state
    print(f"loop: arms left in {state.mode.value}: {state.reason}", flush=True)
    return 1 if state.mode in (Mode.FAULT, Mode.FALLING) else 0


def main(clock: Clock | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m robot_client.loop_process", description="the control loop")
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--supervisor-fd", type=int, required=True)
    parser.add_argument("--planner-fd", type=int, required=True)
    parser.add_argument("--recorder-fd", type=int, default=None)
    arguments = parser.parse_args()
    try:
        config = read_config(arguments.config, LoopConfig)
        channels = channel_from_fd(arguments.supervisor_fd), channel_from_fd(arguments.planner_fd)
        recorder = None if arguments.recorder_fd is None else channel_from_fd(arguments.recorder_fd)
        return run_loop_process(config, *channels, recorder, clock)
    except StackError as error:
        print(f"loop: {error}", file=sys.stderr, flush=True)
        return 2


if __name__ == "__main__":
    sys.exit(main())
