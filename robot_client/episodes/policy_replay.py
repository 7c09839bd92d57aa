"""Logged observations through a policy server: is every answer what it was, or how far off is it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from contract.errors import EpisodeError, StackError
from contract.types import BRANCHES, ActionChunk, GuidanceMode, ImaginedFrames, Observation
from robot_client.episodes.observations import observation_id
from robot_client.episodes.replans import Answered, LoggedReplan

_ANSWER_MS: Final = 60_000.0


class AskingLink(Protocol):
    """What the replay needs of a link to a policy server."""

    def submit(self, observation: Observation, budget_ms: float | None = None) -> int:
        """Send; the request's id."""

    def wait_for(self, request_id: int) -> ActionChunk | ImaginedFrames:
        """The answer. Raises what went wrong."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One replan, then and now."""

    id: str
    first_row: int
    rows_off: float
    """Largest difference of any channel of any row [rad, gripper opening]; infinite when the shapes differ."""
    tr_was: float
    tr_is: float
    scales_off: float
    branches_were: tuple[str, ...]
    branches_are: tuple[str, ...]
    equal: bool
    """Rows, TR and scales to the last bit."""
    trouble: str = ""
    """The server's error, when it gave no chunk."""

    @property
    def tr_off(self) -> float:
        """Relative difference of TR."""
        return abs(self.tr_is - self.tr_was) / max(abs(self.tr_was), 1e-12)

    def within(self, rows: float, tr: float) -> bool:
        """Rows no further off than `rows`, TR relatively no further than `tr`. NaN is never within."""
        return not self.trouble and self.rows_off <= rows and self.tr_off <= tr


def question_of(replan: LoggedReplan, session: str, guidance: GuidanceMode | None) -> Observation:
    """The observation as it is asked again: without a budget, and with the branches that did run, so that time decides
    nothing. With another `guidance` all branches may run."""
    branches = BRANCHES if guidance is not None or replan.answered is None else replan.answered.branches_run
    return replace(
        replan.observation,
        session=session,
        budget_ns=0,
        branches=branches,
        guidance=replan.observation.guidance if guidance is None else guidance,
    )


def answered_by(chunk: ActionChunk) -> Answered:
    """What counts of a chunk."""
    return Answered(
        rows=chunk.rows,
        tr_value=chunk.temporal_ratio.value,
        tr_density=chunk.temporal_ratio.density,
        scale_lang=chunk.scales.lang,
        scale_plan=chunk.scales.plan,
        branches_run=chunk.branches_run,
    )


def ask(link: AskingLink, question: Observation) -> Answered:
    """One answer. Raises the server's error."""
    answer = link.wait_for(link.submit(question, _ANSWER_MS))
    if not isinstance(answer, ActionChunk):
        raise EpisodeError("answer", expected="a chunk", got=type(answer).__name__)
    return answered_by(answer)


def replay(
    replans: Iterable[LoggedReplan],
    link: AskingLink,
    session: str,
    expected: Mapping[str, Answered] | None = None,
    guidance: GuidanceMode | None = None,
) -> list[Compared]:
    """Ask everything that was answered again and compare; `expected` takes the place of the logged answers."""
    compared = []
    for replan in replans:
        observation = replan.observation
        name = observation_id(observation.session, observation.epoch, observation.sequence)
        was = replan.answered if expected is None else expected.get(name)
        if was is not None and replan.answered is not None:
            compared.append(_compare(name, observation.first_row, was, link, question_of(replan, session, guidance)))
    return compared


def _compare(name: str, first_row: int, was: Answered, link: AskingLink, question: Observation) -> Compared:
    try:
        now = ask(link, question)
    except StackError as error:
        nothing = float("nan")
        return Compared(
            name, first_row, nothing, was.tr_value, nothing, nothing, was.branches_run, (), False, str(error)
        )
    same_shape = now.rows.shape == was.rows.shape
    rows_off = float(np.abs(now.rows.astype(float) - was.rows).max()) if same_shape else float("inf")
    scales_off = max(abs(now.scale_lang - was.scale_lang), abs(now.scale_plan - was.scale_plan))
    return Compared(
        id=name,
        first_row=first_row,
        rows_off=rows_off,
        tr_was=was.tr_value,
        tr_is=now.tr_value,
        scales_off=scales_off,
        branches_were=was.branches_run,
        branches_are=now.branches_run,
        equal=rows_off == 0.0 and now.tr_value == was.tr_value and scales_off == 0.0,
    )
