"""Answers as the loop and the supervisor want them."""

from __future__ import annotations

from dataclasses import dataclass

from contract.server_info import ServerInfo
from contract.types import ActionChunk
from robot_client.link.asked import Answer
from robot_client.local_messages import PlanRequest, PolicyReady, ReplanRecord
from robot_client.planner.observe import Sighting


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """A request on its way to the server."""

    request: PlanRequest
    sighting: Sighting
    sent_ns: int


def ready_of(info: ServerInfo, session: str, default_answer_ns: int) -> PolicyReady:
    """What the loop must know of the policy."""
    return PolicyReady(
        session=session,
        model_id=info.model_id,
        engine_id=info.engine_id,
        trained=info.trained,
        step_ns=info.step_ns,
        horizon=info.horizon,
        max_prefix=info.max_prefix,
        answer_ns=max(info.costs_ns.values(), default=default_answer_ns),
    )


def record_of(pending: Pending, chunk: ActionChunk, answer: Answer) -> ReplanRecord:
    """The whole replan for report and episode."""
    request, reading = pending.request, chunk.temporal_ratio
    return ReplanRecord(
        session=chunk.session,
        epoch=chunk.epoch,
        sequence=chunk.sequence,
        first_row=chunk.first_row,
        prefix=request.prefix,
        joints=request.joints,
        instruction=request.instruction,
        seed=request.seed,
        guidance=request.guidance,
        asked_ns=request.asked_ns,
        sent_ns=pending.sent_ns,
        answered_ns=answer.answered_ns,
        image_ages_ns=pending.sighting.ages_ns,
        resize_ns=pending.sighting.resize_ns,
        rows=chunk.rows,
        tr_value=reading.value,
        tr_density=reading.density,
        tr_rank=reading.rank,
        masses=reading.masses,
        scale_lang=chunk.scales.lang,
        scale_plan=chunk.scales.plan,
        branches_run=chunk.branches_run,
        branches_dropped=chunk.branches_dropped,
        durations_ns=chunk.durations_ns,
        engine_id=chunk.engine_id,
        client_ns=_client_ns(pending, answer),
    )


def _client_ns(pending: Pending, answer: Answer) -> dict[str, int]:
    """Durations on our side of the network; nothing when the link took no stamps."""
    asked = answer.asked
    if not answer.received_ns or not asked.encoded_ns:
        return {}
    return {
        "check": asked.begun_ns - pending.sent_ns,
        "encode": asked.encoded_ns - asked.begun_ns,
        "round_trip": answer.received_ns - asked.encoded_ns,
        "decode": answer.answered_ns - answer.received_ns,
    }
