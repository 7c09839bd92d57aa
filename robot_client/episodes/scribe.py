"""Messages of loop and planner -> messages of the bag. Says nothing about disks and drops."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from contract.layout import CHANNELS
from contract.types import Observation
from robot_client.control_source import arms_of_bits, per_arm
from robot_client.episodes import channels as topics
from robot_client.episodes import ros_messages as ros
from robot_client.episodes.cameras import jpeg_of
from robot_client.episodes.observations import header_text, observation_id, png_of
from robot_client.episodes.ros_time import RosTime
from robot_client.local_messages import Imagined, LoopStatus, PlanFailure, ReplanRecord, TickBatch

Add = Callable[[str, int, int, bytes], None]
"""(topic, sequence, ROS time, CDR bytes)."""
_MASS_AXES: Final = ("flow_step", "layer", "head", "row", "current_or_future")


class Scribe:
    """Keeps the newest mode and instruction, which are written when they change. Sequence numbers of messages:
    the tick's number for what the loop sends, the number of the planner's message for what comes from there."""

    def __init__(self, time: RosTime, add: Add, step_ns: int = 0) -> None:
        self._time, self._add = time, add
        self._mode: tuple[str, str, int, int] | None = None
        self._instruction: str | None = None
        self._imagined = 0
        self.step_ns = step_ns
        """Time between two rows; set once a policy is there."""

    def ticks(self, batch: TickBatch) -> None:
        """Asked, told, measured, clips, and each tick's place on the grid."""
        for i in range(len(batch.stamp_ns)):
            self._tick(batch, i, batch.first_tick + i)

    def status(self, status: LoopStatus, number: int) -> None:
        """Instruction, when it changed, and the loop's counters."""
        ros_ns = self._time.of(status.stamp_ns)
        if status.instruction != self._instruction:
            self._instruction = status.instruction
            self._add(topics.INSTRUCTION, number, ros_ns, ros.text(status.instruction))
        level = ros.WARN if status.mode in ("HOLD", "FAULT", "FALLING") else ros.OK
        entry = (level, "loop", f"{status.mode}: {status.reason}", {**status.counters, **status.notes})
        self._add(topics.DIAGNOSTICS, number, ros_ns, ros.diagnostics(ros_ns, [entry]))

    def observation(self, observation: Observation, number: int) -> None:
        """Exactly what the server gets."""
        name = observation_id(observation.session, observation.epoch, observation.sequence)
        ros_ns = self._time.of(observation.stamp_ns)
        for role, image in observation.images.items():
            captured_ns = self._time.of(observation.image_stamps_ns[role])
            data = ros.compressed_image(captured_ns, name, "png", png_of(image))
            self._add(topics.image_topic(role), number, ros_ns, data)
        self._add(topics.OBSERVATION, number, ros_ns, ros.text(header_text(observation)))

    def answer(self, record: ReplanRecord, number: int) -> None:
        """Chunk, TR, masses, scales and times of one answered replan."""
        name = observation_id(record.session, record.epoch, record.sequence)
        ros_ns = self._time.of(record.answered_ns)
        put = {
            topics.CHUNK: ros.trajectory(ros_ns, name, record.rows, self.step_ns),
            topics.TEMPORAL_RATIO: ros.array(np.array([record.tr_value, record.tr_density]), ["ratio,density"]),
            topics.GUIDANCE_SCALE: ros.array(np.array([record.scale_lang, record.scale_plan]), ["lang,plan"]),
            topics.ANSWER: ros.text(_json(_answer_fields(record, name))),
        }
        if record.masses.size:
            put[topics.MASSES] = ros.array(np.asarray(record.masses, np.float32), _MASS_AXES)
        for topic, data in put.items():
            self._add(topic, number, ros_ns, data)

    def imagined(self, imagined: Imagined) -> None:
        """Predicted frames, each with the time that it predicts as its stamp; frame_id = the moment it was imagined."""
        ros_ns, name = self._time.of(imagined.stamp_ns), f"imagined/{imagined.stamp_ns}"
        for i, frame in enumerate(imagined.frames):
            predicted_ns = ros_ns + i * imagined.frame_step_ns
            data = ros.compressed_image(predicted_ns, name, "jpeg", jpeg_of(frame))
            self._add(topics.IMAGINED, self._imagined, ros_ns, data)
            self._imagined += 1

    def failure(self, failure: PlanFailure, number: int, now_ns: int) -> None:
        """A request without a chunk."""
        fields = {"epoch": failure.epoch, "sequence": failure.sequence, "code": failure.code, "text": failure.text}
        self._add(topics.FAILURE, number, self._time.of(now_ns), ros.text(_json(fields)))

    def _tick(self, batch: TickBatch, i: int, number: int) -> None:
        given_ns, due_ns = int(batch.stamp_ns[i]), int(batch.deadline_ns[i])
        chunk = batch.chunks[batch.chunk[i]] if batch.chunk[i] >= 0 else ""
        mode = (
            batch.modes[batch.mode[i]],
            batch.sources[batch.source[i]],
            int(batch.epoch[i]),
            int(batch.intervention[i]),
        )
        if mode != self._mode:
            self._mode = mode
            text = ros.text(_json({**_mode_fields(*mode), "tick": number}))
            self._add(topics.MODE, number, self._time.of(due_ns), text)
        self._joints(topics.JOINT_STATES, number, int(batch.measured_stamp_ns[i]), "", batch.measured[i])
        self._joints(topics.JOINT_REQUESTS, number, due_ns, chunk, batch.asked[i])
        self._joints(topics.JOINT_COMMANDS, number, given_ns, mode[1], batch.told[i])
        if batch.clips[i].any():
            data = ros.array(
                np.asarray(batch.clips[i], np.uint16)[np.newaxis], [_tick_label(number), ",".join(CHANNELS)]
            )
            self._add(topics.CLIPS, number, self._time.of(given_ns), data)
        values = ros.array(_tick_values(batch, i)[np.newaxis], [_tick_label(number), _TICK_LABEL])
        self._add(topics.TICK, number, self._time.of(due_ns), values)

    def _joints(self, topic: str, number: int, stamp_ns: int, frame_id: str, values: np.ndarray) -> None:
        """NaN means that there was nothing, so nothing is written."""
        if not np.isnan(values).any():
            ros_ns = self._time.of(stamp_ns)
            self._add(topic, number, ros_ns, ros.joint_state(ros_ns, frame_id, values))


def _tick_label(number: int) -> str:
    """Label of an axis of length 1: by it a bag whose recorder numbers nothing still knows the tick."""
    return f"{topics.TICK_AXIS}{number}"


_TICK_LABEL: Final = ",".join(topics.TICK_FIELDS)


def _tick_values(batch: TickBatch, i: int) -> np.ndarray:
    values = (
        batch.deadline_ns[i],
        batch.stamp_ns[i],
        batch.lateness_ns[i],
        batch.skipped[i],
        batch.epoch[i],
        batch.row[i],
        round(float(batch.fraction[i]) * 1e9),
        batch.measured_stamp_ns[i],
    )
    return np.array(values, np.int64)


def _mode_fields(mode: str, source: str, epoch: int, intervention: int) -> dict[str, Any]:
    """The control source of each arm, and the arms that a person moves in place of the policy."""
    return {
        "mode": mode,
        "source": source,
        "epoch": epoch,
        **{str(arm): name for arm, name in per_arm(source).items()},
        "intervention": list(arms_of_bits(intervention)),
    }


def _answer_fields(record: ReplanRecord, name: str) -> dict[str, Any]:
    return {
        "id": name,
        "first_row": record.first_row,
        "rows": len(record.rows),
        "seed": record.seed,
        "guidance": record.guidance,
        "instruction": record.instruction,
        "asked_ns": record.asked_ns,
        "sent_ns": record.sent_ns,
        "answered_ns": record.answered_ns,
        "image_ages_ns": dict(record.image_ages_ns),
        "resize_ns": record.resize_ns,
        "tr_value": record.tr_value,
        "tr_density": record.tr_density,
        "tr_rank": record.tr_rank,
        "scale_lang": record.scale_lang,
        "scale_plan": record.scale_plan,
        "branches_run": list(record.branches_run),
        "branches_dropped": list(record.branches_dropped),
        "durations_ns": dict(record.durations_ns),
        "client_ns": dict(record.client_ns),
        "engine_id": record.engine_id,
    }


def _json(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, separators=(",", ":"))
