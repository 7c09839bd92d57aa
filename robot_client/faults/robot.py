"""One robot side of the rehearsal: real loop and planner processes, and this process as their supervisor."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any, Final

from robot_client import local_codec
from robot_client.channel import Channel, channel_pair
from robot_client.demo.children import Child, end_all
from robot_client.faults.nursery import Nursery
from robot_client.inject.since import EngagedMark
from robot_client.local_messages import (
    LocalMessage,
    LoopStatus,
    PersonAct,
    PersonEvent,
    PlanFailure,
    PolicyReady,
    ReplanRecord,
    TickBatch,
)  # fmt: skip
from robot_client.process_config import LoopConfig, PlannerConfig, RigConfig, write_config

REPORT_TICKS: Final = 5
_END_S: Final = 2.0
_numbers = itertools.count()


class Robot:
    """Keeps everything that it was told since `forget`. `inject` is the text of its faults."""

    def __init__(
        self, nursery: Nursery, folder: Path, station: str, server: str, inject: str = "", instruction: str = "go"
    ) -> None:
        self.name = f"robot{next(_numbers)}"
        self._folder, self._station, self._server, self._inject = folder / self.name, station, server, inject
        self._instruction, self._nursery = instruction, nursery
        self.failures: list[tuple[int, PlanFailure]] = []
        self.statuses: list[LoopStatus] = []
        self.records: list[ReplanRecord] = []
        self.batches: list[TickBatch] = []
        self.mode = ""
        self.ready = False
        self.epoch = 0

    def start(self) -> None:
        """Start both; `step` until `ready` and `mode` is IDLE."""
        self._folder.mkdir()
        self._mark = EngagedMark(self._folder)
        common: dict[str, Any] = {"station": self._station, "rig": "ideal", "run_dir": ""}
        common |= {"inject": self._inject, "inject_dir": str(self._folder)}
        self._to_loop, loop_child = channel_pair()
        self._from_planner, planner_child = channel_pair()
        between_loop, between_planner = channel_pair()
        planner = PlannerConfig(**common, server=self._server, session=self.name)
        loop = LoopConfig(**common, instruction=self._instruction, report_ticks=REPORT_TICKS, first_chunk_s=5.0)
        self.planner = self._child("planner.__main__", planner, planner_child, "--loop-fd", between_planner)
        self.loop = self._child("loop_process", loop, loop_child, "--planner-fd", between_loop)
        for end in (loop_child, planner_child, between_loop, between_planner):
            end.close()

    def _child(self, module: str, config: RigConfig, supervisor: Channel, flag: str, peer: Channel) -> Child:
        path = self._folder / f"{module}.json"
        write_config(path, config)
        fds = [supervisor.fileno(), peer.fileno()]
        args = ["--config", str(path), "--supervisor-fd", "{0}", flag, "{1}"]
        return self._nursery.spawn(module, f"robot_client.{module}", args, self._folder, fds)

    def person(self, act: PersonAct) -> int:
        """What a person does; returns when [ns]."""
        local_codec.send(self._to_loop, PersonEvent(act))
        now_ns = time.monotonic_ns()
        if act == "engage":
            self._mark.put(now_ns)
        return now_ns

    def step(self) -> None:
        """Take what the processes have said."""
        for channel in (self._to_loop, self._from_planner):
            while (message := local_codec.receive(channel)) is not None:
                self._take(message)

    def wait_on(self) -> list[Channel]:
        """For `select`."""
        return [channel for channel in (self._to_loop, self._from_planner) if not channel.closed]

    def forget(self) -> None:
        """A new round begins."""
        for kept in (self.failures, self.statuses, self.records, self.batches):
            kept.clear()

    def end(self) -> None:
        """End both processes and close everything."""
        end_all([self.loop, self.planner], _END_S)
        for channel in (self._to_loop, self._from_planner):
            channel.close()
        self._mark.close()

    def _take(self, message: LocalMessage) -> None:
        if isinstance(message, TickBatch):
            self.batches.append(message)
            self.mode, self.epoch = message.modes[message.mode[-1]], int(message.epoch[-1])
        elif isinstance(message, LoopStatus):
            self.statuses.append(message)
            self.mode = message.mode
        elif isinstance(message, PolicyReady):
            self.ready = True
        elif isinstance(message, PlanFailure):
            self.failures.append((time.monotonic_ns(), message))
        elif isinstance(message, ReplanRecord):
            self.records.append(message)
