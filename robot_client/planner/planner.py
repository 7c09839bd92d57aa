"""The planner: one step takes what came from loop and server and passes it on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from contract.errors import CodecError, FieldError, RigError, StackError
from contract.messages import Welcome
from contract.station import Camera, Station
from contract.types import ActionChunk, Skipped
from robot_client import local_codec
from robot_client.camera_roles import bind_cameras
from robot_client.channel import Channel
from robot_client.clock import NS_PER_MS, NS_PER_S, Clock
from robot_client.episodes.feed import FeedMessage, FeedSender
from robot_client.link.asked import Answer
from robot_client.local_messages import PlanFailure, PlanRequest, PolicyReady, ReplanRecord
from robot_client.planner.ages import Ages
from robot_client.planner.observe import look, observation_of
from robot_client.planner.policy_link import PlannerLink
from robot_client.planner.records import Pending, ready_of, record_of
from robot_client.rectify import Rectifier, rectifiers_of
from robot_client.rigs.base import Rig

_NO_MASSES = np.zeros((0, 0, 0, 0, 2), np.float32)
_AGAIN_NS = 2 * NS_PER_S
"""Between two tries after a server refused us, and between two reports of the same trouble."""


class Planner:
    """Owns link and cameras. `say` prints a line for the log."""

    def __init__(
        self,
        clock: Clock,
        rig: Rig,
        station: Station,
        link: PlannerLink,
        session: str,
        chosen_cameras: Mapping[str, str],
        loop: Channel,
        supervisor: Channel,
        say: Callable[[str], None],
        recorder: FeedSender | None = None,
    ) -> None:
        self._clock, self._rig, self._station, self._link = clock, rig, station, link
        self._session, self._chosen = session, chosen_cameras
        self._loop, self._supervisor, self._say = loop, supervisor, say
        self._recorder = recorder
        self._ready: PolicyReady | None = None
        self._cameras: dict[str, Camera] = {}
        self._rectifiers: dict[str, Rectifier] = {}
        self._pending: dict[int, Pending] = {}
        self._try_again_ns = clock.now_ns() + _AGAIN_NS
        self._told = ""
        self._said, self._said_ns = "", 0
        self._troubled, self._troubled_ns = "", 0
        self._ages = Ages(rig)

    @property
    def over(self) -> bool:
        """The loop or the supervisor is gone; there is nobody to plan for."""
        return self._loop.closed or self._supervisor.closed

    def step(self, timeout_s: float) -> None:
        """Wait at most `timeout_s` for something to do, and do all there is."""
        answers = self._link.poll(timeout_s, (self._loop.fileno(), self._supervisor.fileno()))
        self._watch_link()
        self._report_ages()
        for answer in answers:
            self._answered(answer)
        request = self._newest_request()
        if request is not None:
            self._plan(request)
        while self._receive(self._supervisor) is not None:
            pass

    def _watch_link(self) -> None:
        if self._link.state == "READY":
            if self._ready is None:
                self._greet()
            return
        why = self._link.refusal
        due = self._clock.now_ns() >= self._try_again_ns
        if due or (why is not None and str(why) != self._told):
            self._told = str(why or f"link is {self._link.state}")
            self._report(PlanFailure(0, -1, why.code if why else "link", self._told))
        if due:
            self._try_again_ns = self._clock.now_ns() + _AGAIN_NS
            if why is not None:
                self._link.open()  # the server may be the right one by now

    def _greet(self) -> None:
        info = self._link.info
        self._cameras = bind_cameras(self._station.cameras, self._chosen, info)
        self._rectifiers = rectifiers_of(self._cameras, self._station, info)
        budget_ns = int(self._station.timing.answer_budget_ms * NS_PER_MS)
        self._ready = ready_of(info, self._session, budget_ns)
        trained = "trained" if info.trained else "UNTRAINED weights"
        self._say(f"connected to {info.model_id} ({trained}) on {info.runs_on}, {info.engine_id}")
        for spec in info.cameras:
            how = ", rectified" if spec.role in self._rectifiers else ""
            self._say(
                f"camera {spec.role} {spec.width}x{spec.height}{how} <- {_described(self._cameras.get(spec.role))}"
            )
        for channel in (self._loop, self._supervisor):
            local_codec.send(channel, self._ready)
        self._keep(Welcome(info))
        self._keep(self._ready)

    def _report_ages(self) -> None:
        """The loop's watchdog goes on counting where there is no news; the next try may go well."""
        if self._ready is None:
            return
        try:
            ages = self._ages.report(self._cameras, self._clock.now_ns())
        except RigError as error:
            self._trouble(error)
            return
        if ages is not None:
            local_codec.send(self._loop, ages)

    def _trouble(self, error: StackError) -> None:
        """What is wrong although nobody has asked; the same is said again only after a while."""
        now_ns = self._clock.now_ns()
        if str(error) != self._troubled or now_ns - self._troubled_ns >= _AGAIN_NS:
            self._troubled, self._troubled_ns = str(error), now_ns
            self._report(PlanFailure(0, -1, error.code, str(error)[:2000]))

    def _newest_request(self) -> PlanRequest | None:
        newest: PlanRequest | None = None
        while (message := self._receive(self._loop)) is not None:
            if isinstance(message, PlanRequest):
                if newest is not None:
                    self._fail(newest, "skipped", "a newer question was there")
                newest = message
        return newest

    def _receive(self, channel: Channel) -> object | None:
        try:
            return local_codec.receive(channel)
        except CodecError as error:
            self._say(str(error))
            return error

    def _plan(self, request: PlanRequest) -> None:
        if self._ready is None:
            self._fail(request, "link", "no policy server has answered yet")
            return
        try:
            max_age_ns = int(self._station.timing.camera_max_age_ms * NS_PER_MS)
            sighting = look(
                self._rig.frames(), self._cameras, self._link.info, self._clock, max_age_ns, self._rectifiers
            )
            now_ns = self._clock.now_ns()
            observation = observation_of(request, sighting, self._session, now_ns)
            request_id = self._link.submit(observation, max(2 * request.budget_ns / NS_PER_MS, 1.0))
            self._pending[request_id] = Pending(request, sighting, now_ns)
            self._keep(observation)
        except StackError as error:
            self._fail(request, error.code, str(error))

    def _answered(self, answer: Answer) -> None:
        pending = self._pending.pop(answer.asked.request_id, None)
        if pending is None:
            return
        if isinstance(answer.outcome, ActionChunk):
            local_codec.send(self._loop, answer.outcome.without_masses())
            self._record(record_of(pending, answer.outcome, answer))
        elif isinstance(answer.outcome, Skipped):
            self._fail(pending.request, "skipped", answer.outcome.reason)
        elif isinstance(answer.outcome, StackError):
            self._fail(pending.request, answer.outcome.code, str(answer.outcome))

    def _record(self, record: ReplanRecord) -> None:
        self._keep(record)
        try:
            local_codec.send(self._supervisor, record)
        except FieldError:
            local_codec.send(self._supervisor, dataclasses.replace(record, masses=_NO_MASSES))

    def _fail(self, request: PlanRequest, code: str, text: str) -> None:
        failure = PlanFailure(request.epoch, request.sequence, code, text[:2000])
        local_codec.send(self._loop, failure)
        self._report(failure)

    def _keep(self, message: FeedMessage) -> None:
        """For the episode, if there is one; never waits."""
        if self._recorder is not None:
            self._recorder.send(message)

    def _report(self, failure: PlanFailure) -> None:
        self._keep(failure)
        local_codec.send(self._supervisor, failure)
        now_ns = self._clock.now_ns()
        if failure.text != self._said or now_ns - self._said_ns >= _AGAIN_NS:
            self._said, self._said_ns = failure.text, now_ns
            self._say(f"no plan: {failure.text}")


def _described(camera: Camera | None) -> str:
    if camera is None:
        return "not there (optional)"
    return f"{camera.role} {camera.device} {camera.width}x{camera.height}"
