"""A line on a fake clock: replans, ticks and joint readings as the real processes report them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contract.layout import SIZE
from contract.server_info import ServerInfo
from robot_client.latency.motion import Motion
from robot_client.latency.observed import Observed
from robot_client.local_messages import ReplanRecord
from robot_client.ticks import TickRecord, batch_of
from tests.robot_client.stage import info

MS = 1_000_000
WAYS_MS = {"transport": 8.0, "wait": 3.0, "build": 0.5, "check": 0.1, "encode": 0.3, "link": 1.2, "queue": 0.4}
SERVED_MS = {"text": 0.1, "canvas": 0.2, "encode": 2.0, "prepare": 0.2, "video": 20.0, "context": 2.0, "finish": 0.1}
AFTER_MS = {"decode": 0.2, "buffer": 30.0, "safety": 0.3, "command": 0.1, "motor": 4.0}


def line(policy_ms: Sequence[float], forgotten_ms: float = 0.0, server: ServerInfo | None = None) -> Observed:
    """One crossing a second for each time of the policy's head. `forgotten_ms`: server time in no stage."""
    observed, moved, arrivals = Observed(info=server or info()), [], {}
    for number, head_ms in enumerate(policy_ms):
        captured = (1 + number) * 10_000 * MS
        record, answered = _replan(number, captured, head_ms, forgotten_ms)
        observed.add(record)
        commanded = answered + _ns(AFTER_MS["buffer"] + AFTER_MS["safety"] + AFTER_MS["command"])
        observed.add(batch_of([_tick(number, commanded)], number))
        moved.append(commanded + _ns(AFTER_MS["motor"]))
        arrivals["top", captured] = captured + _ns(WAYS_MS["transport"])
    stamps = np.sort([*moved, *(moment - 10 * MS for moment in moved)])
    observed.motion = Motion(stamps, np.where(np.isin(stamps, moved), 0.5, 0.0))
    observed.arrivals = arrivals
    return observed


def _replan(number: int, captured: int, head_ms: float, forgotten_ms: float) -> tuple[ReplanRecord, int]:
    ways = {name: _ns(ms) for name, ms in WAYS_MS.items()}
    built = captured + ways["transport"] + ways["wait"]
    sent = built + ways["build"]
    durations = {**{name: _ns(ms) for name, ms in SERVED_MS.items()}, "head": _ns(head_ms), "queue": ways["queue"]}
    durations["served"] = sum(durations.values()) + _ns(forgotten_ms)
    trip = ways["link"] + durations["served"]
    client = {"check": ways["check"], "encode": ways["encode"], "round_trip": trip, "decode": _ns(AFTER_MS["decode"])}
    answered = sent + sum(client.values())
    nothing = np.zeros((0, SIZE), np.float32)
    record = ReplanRecord(
        session="s", epoch=1, sequence=number, first_row=0, prefix=nothing, joints=np.zeros(SIZE, np.float32),
        instruction="go", seed=0, guidance="off", asked_ns=built, sent_ns=sent, answered_ns=answered,
        image_ages_ns={"top": built - captured, "left_wrist": built - captured - 5 * MS}, resize_ns=ways["build"],
        rows=nothing, tr_value=1.0, tr_density=1.0, tr_rank=0.5, masses=np.zeros((0, 0, 0, 0, 2), np.float32),
        scale_lang=0.0, scale_plan=0.0, branches_run=("full",), branches_dropped=(), durations_ns=durations,
        engine_id="scripted", client_ns=client,
    )  # fmt: skip
    return record, answered


def _tick(number: int, commanded: int) -> TickRecord:
    pose = np.full(SIZE, 0.1 * number)
    return TickRecord(
        deadline_ns=commanded - 2 * MS, stamp_ns=commanded, lateness_ns=0, skipped=0, mode="POLICY", source="policy",
        epoch=1, asked=pose, told=pose, measured=pose, measured_stamp_ns=commanded - MS, row=0, fraction=0.0,
        chunk_id=f"s/1/{number}", clips=np.zeros(SIZE, np.uint8), safety_ns=_ns(AFTER_MS["safety"]),
        command_ns=_ns(AFTER_MS["command"]),
    )  # fmt: skip


def _ns(ms: float) -> int:
    return round(ms * MS)
