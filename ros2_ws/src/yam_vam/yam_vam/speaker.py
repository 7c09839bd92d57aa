"""What loop and planner say, as topics: the very bytes that an episode has, so that a bag of the topics is one.

The recorder's own scribe writes them; here they go to publishers instead of a disk.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rclpy.exceptions import InvalidHandle

from contract.messages import Welcome
from contract.types import Observation
from robot_client.episodes import channels
from robot_client.episodes import ros_messages as ros
from robot_client.episodes.feed import FeedMessage
from robot_client.episodes.ros_time import RosTime
from robot_client.episodes.scribe import Scribe
from robot_client.episodes.topic_bag import NOTES
from robot_client.local_messages import LocalMessage, LoopStatus, PlanFailure, PolicyReady, ReplanRecord, TickBatch
from yam_vam.qos_watch import QosWatch
from yam_vam.topics import loop_topics, notes_topic, role_topic

BY_THE_ARMS: Final = frozenset({channels.JOINT_STATES, channels.JOINT_COMMANDS})
"""With rig ros the arms' own node says the first and the bridge the second."""


class Speaker:
    """Publishers are made at `open`, so that a recorder finds them before the first question; of other roles later."""

    def __init__(self, watch: QosWatch, time: RosTime, clock_ns: Callable[[], int], silent: frozenset[str]) -> None:
        self._watch, self._time, self._clock_ns, self._silent = watch, time, clock_ns, silent
        self._scribe = Scribe(time, self._add)
        self._publishers: dict[str, Any] = {}
        self._statuses = 0
        self._notes: dict[str, dict[str, str]] = {}

    def open(self, notes: Mapping[str, Mapping[str, str]], roles: Sequence[str]) -> None:
        """Make the publishers; `notes` are what an episode keeps of its run, on a latched topic."""
        for role in roles:
            self._publishers[channels.image_topic(role)] = self._image_publisher(channels.image_topic(role))
        for name, topic in {**loop_topics(), NOTES: notes_topic()}.items():
            if name not in self._silent:
                self._publishers[name] = self._watch.advertise(topic.name, topic.kind, topic.qos)
        self._note(notes)

    def local(self, message: LocalMessage) -> None:
        """A message of the loop, or of the planner to its supervisor."""
        if isinstance(message, TickBatch):
            self._scribe.ticks(message)
        elif isinstance(message, LoopStatus):
            self._scribe.status(message, self._statuses)
            self._statuses += 1
        elif isinstance(message, PolicyReady):
            self._scribe.step_ns = message.step_ns

    def fed(self, message: FeedMessage, number: int) -> None:
        """A message of the planner to its recorder, which here is this node."""
        if isinstance(message, Observation):
            self._scribe.observation(message, number)
        elif isinstance(message, ReplanRecord):
            self._scribe.answer(message, number)
        elif isinstance(message, PlanFailure):
            self._scribe.failure(message, number, self._clock_ns())
        elif isinstance(message, PolicyReady):
            self._scribe.step_ns = message.step_ns
        elif isinstance(message, Welcome):
            self._note({"policy": {"server_info": message.info.model_dump_json()}})

    def _note(self, notes: Mapping[str, Mapping[str, str]]) -> None:
        self._notes.update({name: dict(values) for name, values in notes.items()})
        self._add(NOTES, 0, 0, ros.text(json.dumps(self._notes, separators=(",", ":"))))

    def _add(self, topic: str, number: int, ros_ns: int, data: bytes) -> None:
        if topic in self._silent:
            return
        publisher = self._publishers.get(topic)
        if publisher is None:
            publisher = self._publishers[topic] = self._image_publisher(topic)
        try:
            publisher.publish(data)
        except InvalidHandle:  # the node is being closed and the loop's last words still come
            return

    def _image_publisher(self, topic: str) -> Any:
        role = topic.removeprefix(channels.image_topic(""))
        made = role_topic("/policy/observation/{role}", role)
        return self._watch.advertise(made.name, made.kind, made.qos)
