"""Episodes made on a fake clock: ticks, observations and answers through the real recorder, no process, no server."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from contract.layout import GRIPPER_MASK
from contract.messages import Welcome
from contract.types import Observation
from robot_client import local_codec
from robot_client.channel import channel_pair
from robot_client.clock import NS_PER_S, FakeClock
from robot_client.episodes.bag import Bag
from robot_client.episodes.disk import MOST_BYTES
from robot_client.episodes.recorder import Recorder
from robot_client.episodes.ros_time import RosTime
from robot_client.local_messages import LoopStatus, RecorderStatus, ReplanRecord
from robot_client.ticks import TickRecord, batch_of
from tests.robot_client.stage import HOME, STATION, info

START_NS = 5 * NS_PER_S
PERIOD_NS = 10_000_000
OFFSET_NS = 1_700_000_000 * NS_PER_S
TIME = RosTime(OFFSET_NS)
WAY = np.where(GRIPPER_MASK, -1.0, 1.0)
"""Grippers are open at home and can only close."""
ROLES = [camera.role for camera in STATION.cameras]


class Inbox:
    """A feed without sockets."""

    def __init__(self) -> None:
        self.items: list[tuple[int, object]] = []

    def receive(self) -> tuple[int, object] | None:
        return self.items.pop(0) if self.items else None


class Recording:
    """A recorder fed by hand. `loop` is the loop's end of its channel."""

    def __init__(self, directory: Path, most_bytes: int = MOST_BYTES, **facts: str) -> None:
        self.clock = FakeClock(START_NS)
        self.loop, theirs = channel_pair()
        self.supervisor, to_supervisor = channel_pair()
        self.feed = Inbox()
        self.bag = Bag(directory, self.clock, most_bytes)
        self.recorder = Recorder(self.bag, TIME, self.clock, theirs, to_supervisor, self.feed)  # type: ignore[arg-type]
        self.recorder.open(STATION, {"instruction": "go", **facts})
        self.tick_number = 0
        self.message_number = 0

    @property
    def folder(self) -> Path:
        return self.recorder.folder

    def ticks(self, count: int, lost: bool = False) -> None:
        """That many ticks, 20 to a batch; with `lost` they never arrive."""
        for start in range(self.tick_number, self.tick_number + count, 20):
            numbers = range(start, min(start + 20, self.tick_number + count))
            if not lost:
                local_codec.send(self.loop, batch_of([tick(n) for n in numbers], start))
            self.clock.advance(len(numbers) * PERIOD_NS)
            self.recorder.step()
        self.tick_number += count

    def planner(self, message: object) -> None:
        """A message of the planner."""
        self.feed.items.append((self.message_number, message))
        self.message_number += 1
        self.recorder.step()

    def replan(self, sequence: int) -> tuple[Observation, ReplanRecord]:
        """A question and its answer."""
        asked = observation(sequence, self.clock.now_ns())
        answer = answer_to(asked)
        self.planner(asked)
        self.planner(answer)
        return asked, answer

    def close(self, last_word: bool = True) -> RecorderStatus:
        """The end of the run."""
        if last_word:
            local_codec.send(self.loop, status(self.clock.now_ns()))
        self.loop.close()
        while self.recorder.step():
            pass
        return self.recorder.close()


def tick(number: int) -> TickRecord:
    """A smooth move; asked is beyond told on every tenth tick, for a reason."""
    due_ns = START_NS + number * PERIOD_NS
    told = HOME + WAY * 0.1 * (1.0 - np.cos(number / 50.0))
    clipped = number % 10 == 0
    return TickRecord(
        deadline_ns=due_ns,
        stamp_ns=due_ns + 100_000,
        lateness_ns=50_000,
        skipped=0,
        mode="POLICY",
        source="policy",
        epoch=3,
        asked=told + (0.5 if clipped else 0.0),
        told=told,
        measured=told - 0.01,
        measured_stamp_ns=due_ns - 2_000_000,
        row=number // 10,
        fraction=(number % 10) / 10,
        chunk_id=f"s/3/{number // 100}",
        clips=np.full(14, 2 if clipped else 0, np.uint8),
    )


def observation(sequence: int, stamp_ns: int) -> Observation:
    """Random images at the policy's sizes, so that only a lossless way keeps them."""
    random = np.random.default_rng(sequence)
    images = {spec.role: random.integers(0, 256, (spec.height, spec.width, 3), np.uint8) for spec in info().cameras}
    return Observation(
        session="s",
        epoch=3,
        sequence=sequence,
        stamp_ns=stamp_ns,
        joints=random.normal(size=14).astype(np.float32),
        joints_stamp_ns=stamp_ns - 3_000_001,
        images=images,
        image_stamps_ns={role: stamp_ns - 20_000_003 - i for i, role in enumerate(images)},
        instruction="put the red cube in the bin",
        seed=2**64 - 1 - sequence,
        first_row=10 * sequence,
        prefix=random.normal(size=(sequence % 3, 14)).astype(np.float32),
        budget_ns=200_000_001,
        guidance="adaptive",
        branches=("full", "noplan"),
    )


def answer_to(asked: Observation) -> ReplanRecord:
    """An answer as the planner reports it."""
    random = np.random.default_rng(1000 + asked.sequence)
    return ReplanRecord(
        session=asked.session,
        epoch=asked.epoch,
        sequence=asked.sequence,
        first_row=asked.first_row,
        prefix=asked.prefix,
        joints=asked.joints,
        instruction=asked.instruction,
        seed=asked.seed,
        guidance=asked.guidance,
        asked_ns=asked.stamp_ns - 1_000_000,
        sent_ns=asked.stamp_ns,
        answered_ns=asked.stamp_ns + 90_000_000,
        image_ages_ns={role: 20_000_000 for role in asked.images},
        resize_ns=400_000,
        rows=random.normal(size=(16 - len(asked.prefix), 14)).astype(np.float32),
        tr_value=float(random.uniform(1, 5)),
        tr_density=float(random.uniform(0, 1)),
        tr_rank=float("nan"),
        masses=random.uniform(size=(5, 2, 4, 16, 2)).astype(np.float32),
        scale_lang=0.7,
        scale_plan=0.3,
        branches_run=("full", "noplan"),
        branches_dropped=(),
        durations_ns={"backbone": 40_000_000},
        engine_id="scripted",
        client_ns={"check": 50_000, "encode": 150_000, "round_trip": 85_000_000, "decode": 120_000},
    )


def status(stamp_ns: int, finished: bool = True) -> LoopStatus:
    """The loop's word."""
    return LoopStatus(stamp_ns, "HOLD", "hold", 4, "go", "end of the run", -1, "", 0, True, {}, {}, finished)


def record(directory: Path, ticks: int = 400, replans: int = 3) -> Path:
    """A whole, complete episode; its folder."""
    made = Recording(directory)
    made.planner(Welcome(info()))
    for sequence in range(replans):
        made.replan(sequence)
    made.ticks(ticks)
    assert made.close().complete
    return made.folder
