"""The processes behind the client node: loop, planner and, for rig ros, the arms' bridge. No ROS here but its names.

Each has a session of its own, so that a Ctrl-C in the terminal reaches only the node; each ends when the node's end of
its channel does, by `kill -9` too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contract.errors import CodecError, RigError
from robot_client import local_codec
from robot_client.channel import Channel, channel_pair
from robot_client.demo.children import Child, end_all, start_child
from robot_client.episodes.feed import FeedMessage, FeedReceiver
from robot_client.local_messages import LocalMessage, PersonAct, PersonEvent
from robot_client.process_config import LoopConfig, PlannerConfig, write_config
from robot_client.run_folder import RunFolder, make_run_folder
from robot_client.words import Words

EXIT_S: Final = 7.2
"""The loop brakes, holds, on the twin's own rig parks, and ends; see `robot_client.ending`."""
REST_S: Final = 0.6
"""For planner and bridge, after it."""
_MOST: Final = 200
_POLL_S: Final = 0.01
_ALIVE_S: Final = 0.2
"""Between two signs of life; a station may want one within seconds (`watchdogs.operator_ms`)."""


@dataclass(frozen=True, slots=True)
class CrewSettings:
    """What to start. `planner` is None when no policy is wanted."""

    loop: LoopConfig
    planner: PlannerConfig | None
    logs: Path
    joint_topics: tuple[str, ...]
    ros_arguments: tuple[str, ...]
    """For the bridge: its namespace and remappings."""


class Crew:
    """`start`, then `messages` and `feed` often, then `end`, once each."""

    def __init__(self, settings: CrewSettings) -> None:
        self._settings = settings
        self._folder: RunFolder | None = None
        self._channels: list[Channel] = []
        self._nobody: Channel | None = None
        self._words = Words()
        self._alive_due_s = 0.0
        self._feed: FeedReceiver | None = None
        self._children: dict[str, Child] = {}
        self._rig_dir = settings.loop.run_dir

    @property
    def run_dir(self) -> Path:
        """Where external trajectories are left for the loop, and the bridge's state for us; from `start` on."""
        if self._folder is None:
            raise RigError("folder of the processes", expected="one that `start` makes", got="not started")
        return self._folder.path

    def start(self) -> None:
        """Raises `RigError` when a process cannot be started."""
        settings = self._settings
        settings.logs.mkdir(parents=True, exist_ok=True)
        self._folder = make_run_folder("ros")
        loop_end, loop_child = channel_pair()
        between_loop, between_planner = channel_pair()
        self._channels = [loop_end]
        if settings.loop.rig == "ros":
            self._rig_dir = str(self.run_dir)
            self._start_bridge()
        if settings.planner is None:
            self._nobody = between_planner
        else:
            self._start_planner(settings.planner, between_planner)
        loop = settings.loop.model_copy(update={"run_dir": self._rig_dir, "external_dir": str(self.run_dir)})
        self._children["loop"] = self._start("loop_process", loop, loop_child, "--planner-fd", between_loop)
        loop_child.close()
        between_loop.close()

    def messages(self) -> Iterator[LocalMessage]:
        """What loop and planner have sent since the last call. Tells the loop that whoever listens is alive."""
        if time.monotonic() >= self._alive_due_s:
            self._alive_due_s = time.monotonic() + _ALIVE_S
            self.tell("alive")
        for channel in self._channels:
            for _ in range(_MOST):
                try:
                    message = local_codec.receive(channel)
                except CodecError:
                    continue
                if message is None:
                    break
                yield message

    def feed(self) -> Iterator[tuple[int, FeedMessage]]:
        """Whole observations and answers, with the planner's running number."""
        for _ in range(_MOST if self._feed is not None else 0):
            try:
                item = self._feed.receive() if self._feed is not None else None
            except CodecError:
                continue
            if item is None:
                return
            yield item

    def tell(self, act: PersonAct, text: str = "") -> None:
        """A person's act, for the loop."""
        if self._channels:
            self._words.send(self._channels[0], PersonEvent(act, text))

    def dead(self) -> str:
        """Which process has ended by itself, with its last words; empty: none."""
        for child in self._children.values():
            if not child.running:
                return f"{child.name} ended with code {child.process.returncode}: {child.tail() or 'no last words'}"
        return ""

    def end(self, take: Callable[[LocalMessage], None], impatient: Callable[[], bool]) -> int:
        """End everything within EXIT_S + REST_S; the loop's exit code, -1 when it had to be killed.

        `take` sees the last messages. Once `impatient` says yes, the arms hold where they are instead of parking.
        """
        loop = self._children.get("loop")
        self.tell("finish")
        until_s, told = time.monotonic() + EXIT_S, False
        while loop is not None and loop.running and time.monotonic() < until_s:
            if impatient() and not told:
                told = True
                self.tell("hold")
            for message in self.messages():
                take(message)
            time.sleep(_POLL_S)
        for message in self.messages():
            take(message)
        code = -1 if loop is None or loop.running else int(loop.process.returncode)
        self._clear()
        return code if loop is not None else 0

    def _clear(self) -> None:
        for channel in (*self._channels, *((self._nobody,) if self._nobody is not None else ())):
            channel.close()
        bridge = self._children.get("arms_bridge")
        if bridge is not None and bridge.process.stdin is not None:
            bridge.process.stdin.close()
        end_all(list(self._children.values()), REST_S)
        if self._feed is not None:
            self._feed.close()
        self._channels, self._nobody, self._feed, self._children = [], None, None, {}
        if self._folder is not None:
            self._folder.remove()
            self._folder = None

    def _start_planner(self, config: PlannerConfig, between: Channel) -> None:
        address = f"ipc://{self.run_dir}/feed"
        self._feed = FeedReceiver(address)
        self._feed.open()
        end, child = channel_pair()
        self._channels.append(end)
        config = config.model_copy(update={"run_dir": self._rig_dir, "recorder": address})
        self._children["planner"] = self._start("planner", config, child, "--loop-fd", between)
        child.close()
        between.close()

    def _start_bridge(self) -> None:
        topics = [part for topic in self._settings.joint_topics for part in ("--joint-topic", topic)]
        rights = ["--realtime"] if self._settings.loop.realtime else []
        ros = ["--ros-args", *self._settings.ros_arguments] if self._settings.ros_arguments else []
        arguments = ["yam_vam.arms_bridge", "--run-dir", str(self.run_dir), *topics, *rights, *ros]
        self._children["arms_bridge"] = start_child("arms_bridge", arguments, self._settings.logs, eof=True)

    def _start(self, module: str, config: Any, supervisor: Channel, flag: str, peer: Channel) -> Child:
        path = self.run_dir / f"{module}.json"
        write_config(path, config)
        fds = [supervisor.fileno(), peer.fileno()]
        arguments = [f"robot_client.{module}", "--config", str(path), "--supervisor-fd", str(fds[0]), flag, str(fds[1])]
        return start_child(module.removesuffix("_process"), arguments, self._settings.logs, fds)
