"""Loop and planner of a run: their configurations, and the channels between them, the recorder and us."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robot_client.channel import Channel, channel_pair
from robot_client.demo.children import Child, start_child
from robot_client.demo.recording import Recording
from robot_client.demo.settings import RunSettings
from robot_client.process_config import LoopConfig, PlannerConfig, write_config


@dataclass(slots=True, eq=False)
class RobotSide:
    """What was started so far; our ends of the channels are to be read and closed by whoever has it."""

    loop: Child | None = None
    planner: Child | None = None
    channels: list[Channel] = field(default_factory=list)
    """The loop's first."""


@dataclass(frozen=True, slots=True, eq=False)
class RobotSideParts:
    """What loop and planner are started with. `common`: of both; `leader`: of the loop; `roles`: of the planner."""

    settings: RunSettings
    run_dir: Path
    logs: Path
    address: str
    common: Mapping[str, Any]
    leader: Mapping[str, Any]
    roles: Mapping[str, str]
    recording: Recording | None

    def start(self, side: RobotSide) -> None:
        """Both processes, or without a policy the loop alone. When it raises, `side` has what must be ended."""
        loop_end, loop_child = channel_pair()
        planner_end, planner_child = channel_pair()
        between_loop, between_planner = channel_pair()
        side.channels += [loop_end, planner_end]
        if self.recording is not None:
            side.channels.append(self.recording.supervisor_end)
        if self.settings.policy:
            side.planner = self._start("planner", self._planner_config(), planner_child, "--loop-fd", between_planner)
        else:
            side.channels.append(between_planner)  # nobody plans; the loop must not think that its planner died
        side.loop = self._start("loop_process", self._loop_config(), loop_child, "--planner-fd", between_loop)
        for end in (loop_child, planner_child, between_loop, *((between_planner,) if self.settings.policy else ())):
            end.close()
        if self.recording is not None:
            self.recording.loop_started()

    def _loop_config(self) -> LoopConfig:
        settings = self.settings
        return LoopConfig(
            **self.common,
            **self.leader,
            instruction=settings.instruction,
            seed=settings.seed,
            guidance=settings.guidance,
        )

    def _planner_config(self) -> PlannerConfig:
        keys = self.settings.keys
        return PlannerConfig(
            **self.common,
            server=self.address,
            session=f"robot-{self.run_dir.name[-8:]}",
            cameras=dict(self.roles),
            keys="" if keys is None else str(keys.absolute()),
            recorder=self.recording.address if self.recording else "",
        )

    def _start(
        self, module: str, config: LoopConfig | PlannerConfig, supervisor: Channel, peer_flag: str, peer: Channel
    ) -> Child:
        path = self.run_dir / f"{module}.json"
        write_config(path, config)
        fds = [supervisor.fileno(), peer.fileno()]
        args = [f"robot_client.{module}", "--config", str(path), "--supervisor-fd", str(fds[0]), peer_flag, str(fds[1])]
        if self.recording is not None and isinstance(config, LoopConfig):
            fds.append(self.recording.loop_end.fileno())
            args += ["--recorder-fd", str(fds[-1])]
        return start_child(module.removesuffix("_process"), args, self.logs, fds)
