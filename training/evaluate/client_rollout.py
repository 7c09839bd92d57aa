"""One closed-loop episode through the robot client's own parts: planner, loop, chunk buffer, safety, in simulated time.

Slower than `training.evaluate.rollout` and nearer to a run: the station's limits shape what the arms are told, the
policy is asked every `replan_rows` of the station, and an answer takes as long as said, during which committed rows
run. What it leaves out is only what a clock decides: lateness of ticks and a different time for every answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.server_info import ServerInfo
from contract.station import load_station
from contract.types import ActionChunk, GuidanceMode, Observation
from robot_client import local_codec
from robot_client.channel import channel_pair
from robot_client.clock import NS_PER_MS, NS_PER_S, FakeClock
from robot_client.local_messages import PersonEvent
from robot_client.loop_process import LoopProcess
from robot_client.pacer import Pacer
from robot_client.planner.planner import Planner
from robot_client.process_config import LoopConfig
from robot_client.scripted_link import Reply, ScriptedLink
from robot_client.twin.twin import Twin
from training.evaluate.rollout import Outcome
from training.evaluate.stepped_rig import SteppedRig
from training.evaluate.suite import MOST_ROWS, ROW_S, Trial

ANSWER_MS: Final = 30
"""About what an answer takes on the wire (docs/benchmarks.md)."""
_START_NS: Final = 5 * NS_PER_S
_SEEDS_APART: Final = 1000
"""Noise of a trial: request n carries seed * 1000 + n."""
Answer = Callable[[Observation], ActionChunk]


class SimulatedClient:
    """A whole robot side for one trial on a clock that moves only with its ticks; `answer` is the policy."""

    def __init__(
        self, twin: Twin, info: ServerInfo, answer: Answer, guidance: GuidanceMode = "off", answer_ms: int = ANSWER_MS
    ) -> None:
        self._twin, self._info, self._answer = twin, info, answer
        self._guidance, self._answer_ns = guidance, answer_ms * NS_PER_MS
        self.told: NDArray[np.float64] = np.zeros((0, 14))
        """(N, 14) every command of the last trial."""
        self.chunks: list[ActionChunk] = []
        """Its answers."""
        self.modes: set[str] = set()
        """Modes it went through."""

    def run(self, trial: Trial, seconds: float = MOST_ROWS * ROW_S) -> Outcome:
        """Engage, and let the policy drive until the task is done or the time is over."""
        twin, station = self._twin, load_station("twin")
        twin.reset(trial.seed, trial.task)
        outcome = Outcome(trial.split, trial.task.object, trial.task.receptacle, trial.seed)
        self.chunks, self.modes = [], set()
        clock = FakeClock(_START_NS)
        rig = SteppedRig(twin, clock)
        supervisor, loop_out = channel_pair()
        watcher, planner_out = channel_pair()
        loop_side, planner_side = channel_pair()
        config = LoopConfig(
            rig="sim", realtime=False, guidance=self._guidance, seed=trial.seed * _SEEDS_APART, first_chunk_s=5.0
        )
        process = LoopProcess(config, station, rig, clock, loop_out, loop_side)
        link = ScriptedLink(clock, self._info, lambda asked, number: self._reply(asked, outcome))
        planner = Planner(clock, rig, station, link, "evaluate", {}, planner_side, planner_out, lambda line: None)
        period_ns = int(NS_PER_S / station.timing.loop_hz)
        pacer = Pacer(clock, period_ns)
        link.open()
        pacer.start()
        ticks, engaged = 0, False
        while ticks * period_ns < seconds * NS_PER_S and not outcome.success:
            process.loop.tick(pacer.wait())
            planner.step(0.0)
            rig.step(period_ns)
            ticks += 1
            for channel in (supervisor, watcher):
                while local_codec.receive(channel) is not None:
                    pass
            if not engaged and process.pilot.policy is not None and process.loop.resting and ticks > 1:
                engaged = local_codec.send(supervisor, PersonEvent("instruction", trial.task.instruction))
                engaged = engaged and local_codec.send(supervisor, PersonEvent("engage"))
            self.modes.add(process.pilot.state.mode.value)
            outcome.success = twin.verdict.success
        for channel in (supervisor, loop_out, watcher, planner_out, loop_side, planner_side):
            channel.close()
        outcome.rows = round(ticks * period_ns / NS_PER_S / ROW_S)
        outcome.misplaced = twin.misplaced()
        self.told = np.array(rig.told)
        return outcome

    def _reply(self, asked: Observation, outcome: Outcome) -> Reply:
        chunk = self._answer(asked)
        self.chunks.append(chunk)
        outcome.ratios.append(chunk.temporal_ratio.value)
        outcome.phases.append(self._twin.verdict.phase.value)
        outcome.replan_ms.append(chunk.durations_ns.get("total", 0) / NS_PER_MS)
        return Reply(self._answer_ns, chunk.rows)
