"""What the planner talks to: submit observations, poll answers. Newest wins, every request ends in one answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from contract.check import check_observation
from contract.codec import Envelope, encode
from contract.errors import FieldError, LinkError, StackError
from contract.server_info import ServerInfo
from contract.types import ActionChunk, ImaginedFrames, ImagineRequest, Observation, Skipped
from robot_client.link.address import checked_address
from robot_client.link.asked import Answer, Asked, Outcome, judge
from robot_client.link.budgets import Budgets, checked_budget_ms
from robot_client.link.connection import Connection, LinkState
from robot_client.link.counters import LinkCounters
from robot_client.link.requests import Requests


class PolicyLink:
    """One session with a policy server. One thread owns it and calls `poll` at least every 100 ms while the session is
    to live: pings go out and probes are answered there, and a probe unanswered for 300 ms loses the session name.

    Raises `ConfigurationError` for a bad address before anything is opened; `Budgets` does the same for times.
    """

    def __init__(
        self,
        address: str,
        session: str,
        roles: frozenset[str],
        budgets: Budgets | None = None,
        keys: Path | None = None,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._budgets = budgets or Budgets()
        self._clock = clock
        self.counters = LinkCounters()
        self._connection = Connection(
            checked_address(address), session, roles, self._budgets, keys, self.counters, clock
        )
        self._requests = Requests(self.counters, clock)
        self._generation = 0

    @property
    def state(self) -> LinkState:
        """CLOSED, CONNECTING, READY, SILENT or REFUSED."""
        return self._connection.state

    @property
    def server_state(self) -> str:
        """State in the server's newest pong: READY or FAULT."""
        return self._connection.server_state

    @property
    def refusal(self) -> StackError | None:
        """Why the state is REFUSED. `connect` or `open` tries again."""
        return self._connection.refusal

    @property
    def info(self) -> ServerInfo:
        """What the server said of itself. Raises `LinkError` before the first welcome."""
        if self._connection.info is None:
            raise self._not_ready(f"no welcome yet, {self.state}")
        return self._connection.info

    def open(self) -> None:
        """Begin to connect without waiting; `poll` carries on. Also leaves REFUSED."""
        self._connection.open()

    def connect(self, budget_ms: float | None = None) -> ServerInfo:
        """Wait until the server accepts the session, `Budgets.connect_ms` at most.

        Raises `VersionError`, `FieldError` or `SessionError` when it refuses or does not fit, else `LinkError`
        (refused) or `LinkTimeoutError` (connected but silent) with address and budget. The link goes on trying in
        `poll`, and `connect` may be called again.
        """
        budget_ms = self._budgets.connect_ms if budget_ms is None else checked_budget_ms("budget_ms", budget_ms)
        self.open()
        due_ns = self._clock() + int(budget_ms * 1e6)
        self._work()
        while self.state not in ("READY", "REFUSED") and self._clock() < due_ns:
            self._connection.wait(due_ns, ())
            self._work()
        if self.state != "READY":
            raise self._connection.failure(budget_ms)
        return self.info

    def submit(self, observation: Observation, budget_ms: float | None = None) -> int:
        """Ask for a chunk; the request's id comes back at once, its answer out of `poll`.

        An observation that could not be sent yet is replaced by the newer one. Images may not change until answered.
        Raises `LinkError` when the link is not READY, `FieldError` when the observation is not what the server wants.
        """
        asked = self._asked(observation, self._budgets.reply_ms if budget_ms is None else budget_ms)
        self._requests.put(asked)
        self._requests.send(self._send)  # first the images on their way, then what else is due
        self._work()
        return asked.request_id

    def imagine(self, request: ImagineRequest, budget_ms: float | None = None) -> int:
        """Ask for predicted frames; as `submit`, but `LinkError` when it cannot be sent at once."""
        asked = self._asked(request, self._budgets.imagine_ms if budget_ms is None else budget_ms)
        if not self._send(asked):
            raise self._not_ready("the network takes nothing more")
        self._requests.put_sent(asked)
        return asked.request_id

    def poll(self, timeout_s: float = 0.0, wake_on: Sequence[int] = ()) -> list[Answer]:
        """Do what is due and return the answers there are, waiting up to `timeout_s` for the first.

        With file descriptors `wake_on` it returns as soon as one of them is readable, or anything at all happened.
        """
        until_ns = self._clock() + int(timeout_s * 1e9)
        self._work()
        while not self._requests.answered and self._clock() < until_ns:
            self._connection.wait(min(until_ns, self._requests.next_due_ns()), wake_on)
            self._work()
            if wake_on:
                break
        return self._requests.answers()

    def wait_for(self, request_id: int) -> ActionChunk | ImaginedFrames:
        """Wait for one answer, which comes by the deadline of its request. Raises what went wrong.

        For callers with one question at a time: answers to others are dropped meanwhile.
        """
        while True:
            for answer in self.poll(1.0):
                if answer.asked.request_id == request_id:
                    return _answer_or_raise(answer.outcome)

    def close(self) -> None:
        """Say goodbye; takes at most 100 ms. Open requests are forgotten."""
        self._connection.close()

    def _asked(self, question: Observation | ImagineRequest, budget_ms: float) -> Asked:
        budget_ms = checked_budget_ms("budget_ms", budget_ms)
        if self.state != "READY":
            raise self.refusal or self._not_ready(self.state)
        request_id, now_ns = self._connection.next_id(), self._clock()
        observation = question.observation if isinstance(question, ImagineRequest) else question
        if observation.session != self._connection.session:
            raise FieldError(
                "session",
                expected=self._connection.session,
                got=observation.session,
                remedy="use the link's own name",
            )
        check_observation(observation, self.info)
        begun_ns = self._clock()
        frames = encode(question, request_id)
        self.counters.submitted += 1
        due_ns = now_ns + int(budget_ms * 1e6)
        return Asked(request_id, question, frames, now_ns, due_ns, begun_ns, self._clock())

    def _work(self) -> None:
        for item in self._connection.traffic():
            self._take(item)
        if self._connection.generation != self._generation:
            self._generation = self._connection.generation
            self._requests.end_all(self._not_ready(f"the connection was lost, {self.state}"))
        self._requests.end_overdue(self.state)
        self._requests.send(self._send)

    def _take(self, item: Envelope | tuple[int, StackError]) -> None:
        request_id = item.request_id if isinstance(item, Envelope) else item[0]
        asked = self._requests.take(request_id)
        if asked is None:
            self.counters.late += isinstance(item, Envelope)
            return
        outcome = judge(asked, item.message, self.info) if isinstance(item, Envelope) else item[1]
        self._requests.end(asked, outcome, self._connection.received_ns)

    def _send(self, asked: Asked) -> bool:
        return self._connection.send(asked.frames)

    def _not_ready(self, got: str) -> LinkError:
        return LinkError(
            f"policy server at {self._connection.address}",
            expected="READY",
            got=got,
            remedy="the link connects by itself; ask again when it is READY",
        )


def _answer_or_raise(outcome: Outcome) -> ActionChunk | ImaginedFrames:
    if isinstance(outcome, StackError):
        raise outcome
    if isinstance(outcome, Skipped):
        raise LinkError("observation", expected="an answer", got=outcome.reason, remedy="ask again")
    return outcome
