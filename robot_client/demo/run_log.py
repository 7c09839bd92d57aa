"""What the processes of a run have said: all of it for the report, the newest for the view, last words for the end."""

from __future__ import annotations

from collections.abc import Callable

from robot_client.demo.history import History
from robot_client.demo.view import Seen
from robot_client.local_messages import LocalMessage, LoopStatus, PlanFailure, RecorderStatus, ReplanRecord


class RunLog:
    """`take` every message once. `trouble` prints what must not be overlooked."""

    def __init__(self, instruction: str, seconds: float, trouble: Callable[[str], None]) -> None:
        self._trouble = trouble
        self.history = History(instruction)
        self.seen = Seen("starting", "", instruction, seconds=seconds or None)
        self.final: LoopStatus | None = None
        """The loop's last word."""
        self.recorded: RecorderStatus | None = None
        """The recorder's newest."""

    def take(self, message: LocalMessage) -> None:
        """One message of loop, planner or recorder."""
        self.history.add(message)
        seen = self.seen
        if isinstance(message, LoopStatus):
            seen.status = message
            self.final = message if message.finished else self.final
        elif isinstance(message, ReplanRecord):
            seen.replan = message
            seen.replans += 1
            seen.rate_hz = self.history.replan_rate_hz()
            seen.branch_counts = self.history.branch_counts()
        elif isinstance(message, PlanFailure):
            seen.failure = message.text
        elif isinstance(message, RecorderStatus):
            self._recorder_says(message)

    def _recorder_says(self, status: RecorderStatus) -> None:
        """Trouble with the recording never stops the arms; it is said at once, and at the end."""
        if status.trouble and (self.recorded is None or not self.recorded.trouble):
            self._trouble(f"recording: {status.trouble}")
        self.recorded = status
