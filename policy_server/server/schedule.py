"""What waits for the engine: the newest observation of each session, served in turn, and imagination below that."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from contract.types import ImagineRequest, Observation
from policy_server.server.sessions import Session


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One accepted request."""

    session: Session
    peer: bytes
    request_id: int
    question: Observation | ImagineRequest
    received_ns: int

    @property
    def observation(self) -> Observation:
        """The observation asked about."""
        return self.question.observation if isinstance(self.question, ImagineRequest) else self.question


class Schedule:
    """At most one replan and one imagination per session wait; whoever puts a newer one gets the older one back.

    The socket thread puts, the inference thread takes.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._replans: dict[Session, Job] = {}
        self._imagines: dict[Session, Job] = {}
        self._closed = False

    def put(self, job: Job) -> Job | None:
        """Queue a job; the superseded one, if there was one, comes back to be answered. A session keeps its turn."""
        waiting = self._imagines if isinstance(job.question, ImagineRequest) else self._replans
        with self._changed:
            older = waiting.get(job.session)
            waiting[job.session] = job
            self._changed.notify()
        return older

    def take(self, timeout_s: float) -> Job | None:
        """The next job, replans first and sessions in turn; None after `timeout_s` or once closed."""
        with self._changed:
            self._changed.wait_for(self._has_work, timeout_s)
            waiting = self._replans or self._imagines
            return None if self._closed or not waiting else waiting.pop(next(iter(waiting)))

    def take_replan(self) -> Job | None:
        """The next replan if one waits; asked between the passes of an imagination."""
        with self._changed:
            return self._replans.pop(next(iter(self._replans))) if self._replans and not self._closed else None

    def drop(self, session: Session) -> int:
        """Forget what a session left behind; returns how many jobs that were."""
        with self._changed:
            gone = (self._replans.pop(session, None), self._imagines.pop(session, None))
        return sum(job is not None for job in gone)

    def close(self) -> None:
        """End every wait in `take`."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def _has_work(self) -> bool:
        return self._closed or bool(self._replans) or bool(self._imagines)
