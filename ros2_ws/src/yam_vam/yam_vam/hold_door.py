"""`~/hold` of the client, answered from a thread of its own: it is obeyed while the client is busy with anything else.

The node's executor does one thing at a time, and a configuration or an activation takes seconds. A second node, with an
executor of its own, has nothing to do but this. It never touches what the first one owns beyond sending the word.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final

from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import Trigger

from robot_client.local_messages import LoopStatus
from robot_client.modes import Mode
from yam_vam.answers import ANSWER_S, Verdict, refused

_HOLD: Final = frozenset({Mode.HOLD})
_POLL_S: Final = 0.005
_END_S: Final = 2.0


class HoldDoor:
    """`open` makes the service, `close` ends the thread. `say` passes "hold" on and says whether there is a loop."""

    def __init__(self, say: Callable[[], bool], status: Callable[[], LoopStatus | None]) -> None:
        self._say, self._status = say, status
        self._node: Node | None = None
        self._executor: SingleThreadedExecutor | None = None
        self._thread: threading.Thread | None = None

    def open(self, owner: Any) -> None:
        """`owner`: the node whose `~/hold` this is."""
        # A launch file's __node would give this node its owner's name.
        self._node = Node(
            f"{owner.get_name()}_hold",
            namespace=owner.get_namespace(),
            context=owner.context,
            use_global_arguments=False,
            start_parameter_services=False,
        )
        self._node.create_service(Trigger, owner.resolve_service_name("~/hold"), self._asked)
        self._executor = SingleThreadedExecutor(context=owner.context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, args=(self._executor,), name="hold", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Nothing is answered any more. Harmless when it is not open."""
        if self._executor is not None:
            self._executor.shutdown(timeout_sec=ANSWER_S)
        if self._thread is not None:
            self._thread.join(_END_S)
        if self._node is not None:
            self._node.destroy_node()
        self._node = self._executor = self._thread = None

    @staticmethod
    def _spin(executor: SingleThreadedExecutor) -> None:
        try:
            executor.spin()
        except ExternalShutdownException:
            return

    def _asked(self, asked: Any, answer: Any) -> Any:
        verdict = Verdict(self._status(), _HOLD)
        if not self._say():
            return refused(answer, "hold refused: the node is not configured")
        until_s = time.monotonic() + ANSWER_S
        while not verdict.said(self._status()) and time.monotonic() < until_s:
            time.sleep(_POLL_S)
        return verdict.fill(answer, self._status())
