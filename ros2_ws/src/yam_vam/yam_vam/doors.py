"""What people and programs may ask of the client: services, the instruction, an external trajectory.

A service passes a person's act to the loop and answers with what the loop made of it. Nothing here moves an arm.
"""

from __future__ import annotations

import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from rclpy.parameter import Parameter as RosParameter
from std_msgs.msg import Empty, String
from std_srvs.srv import SetBool, Trigger

from contract.errors import StackError
from robot_client.local_messages import PersonAct
from robot_client.loop_process import SUPPORTED
from robot_client.mailbox import MailboxWriter, open_writer
from robot_client.modes import Mode
from robot_client.sources.external import MAILBOX, TRAJECTORY_BYTES, pack_trajectory
from yam_vam.answers import ANSWER_S, Verdict, refused
from yam_vam.hold_door import HoldDoor
from yam_vam.topics import RELIABLE, table
from yam_vam.trajectories import points_of

if TYPE_CHECKING:
    from yam_vam.client import ClientNode

_LEADS_TO: Final[dict[PersonAct, frozenset[Mode]]] = {
    "engage": frozenset({Mode.HANDOFF, Mode.POLICY}),
    "replay": frozenset({Mode.HANDOFF, Mode.REPLAY}),
    "teleop": frozenset({Mode.HANDOFF, Mode.TELEOP, Mode.POLICY}),
    "external": frozenset({Mode.HANDOFF, Mode.EXTERNAL}),
    "release": frozenset({Mode.IDLE}),
    "park": frozenset({Mode.PARK}),
    "home": frozenset({Mode.PARK}),
}
"""Service -> modes that show that it was done."""
_SETS_OFF: Final = frozenset({"engage", "replay", "teleop", "external"})


class Doors:
    """Services and subscriptions of one client node; they exist and answer in every state, ~/hold at any moment."""

    def __init__(self, node: ClientNode) -> None:
        self._node = node
        self._mailbox: MailboxWriter | None = None
        self._hold = HoldDoor(lambda: node.tell("hold"), lambda: node.status)
        self.counts: Counter[str] = Counter()
        for act, modes in _LEADS_TO.items():
            node.create_service(Trigger, f"~/{act}", partial(self._act, act, modes))
        node.create_service(SetBool, "~/relax", self._relax)
        node.create_subscription(String, "~/instruction", self._instruct, RELIABLE)
        node.create_subscription(Empty, "~/alive", lambda message: node.tell("alive"), RELIABLE)
        external = table()["/external_trajectory"]
        node.create_subscription(external.kind, external.name, self._trajectory, external.qos)

    def open(self) -> None:
        """From now on ~/hold is answered, whatever the node is busy with."""
        self._hold.open(self._node)

    def close(self) -> None:
        """No ~/hold any more."""
        self._hold.close()

    def close_mailbox(self) -> None:
        """The loop that read it is gone."""
        if self._mailbox is not None:
            self._mailbox.close()
            self._mailbox = None

    def _act(self, act: PersonAct, modes: frozenset[Mode], asked: Any, answer: Any) -> Any:
        if act in _SETS_OFF and (why := self._not_yet()):
            return refused(answer, f"{act} refused: {why}")
        return self._answer(act, "", modes, answer)

    def _relax(self, asked: Any, answer: Any) -> Any:
        """`data` true is a person's word that the arms lie or are held; without it nothing is let go."""
        text = SUPPORTED if asked.data else ""
        return self._answer("relax", text, frozenset({Mode.RELAXED}), answer)

    def _answer(self, act: PersonAct, text: str, modes: frozenset[Mode], answer: Any) -> Any:
        node = self._node
        node.pump()
        verdict = Verdict(node.status, modes)
        if not node.tell(act, text):
            return refused(answer, f"{act} refused: the node is not configured")
        node.waiting.until(lambda: verdict.said(node.status), ANSWER_S)
        return verdict.fill(answer, node.status)

    def _not_yet(self) -> str:
        if self._node.state != "active":
            return "the node is not active"
        return self._node.trouble

    def _instruct(self, message: String) -> None:
        self._node.set_parameters([RosParameter("instruction", value=message.data)])

    def _trajectory(self, message: Any) -> None:
        """Only in EXTERNAL, which a person enters by ~/external."""
        node = self._node
        if node.mode != Mode.EXTERNAL.value or node.crew is None:
            self.counts["external trajectories refused"] += 1
            node.get_logger().error(
                f"external trajectory refused in mode {node.mode or 'none'}: call ~/external first",
                throttle_duration_sec=2.0,
            )
            return
        try:
            data = pack_trajectory(*points_of(message))
            if self._mailbox is None:
                self._mailbox = open_writer(node.crew.run_dir / MAILBOX, TRAJECTORY_BYTES)
        except StackError as error:
            self.counts["external trajectories refused"] += 1
            node.get_logger().error(f"external trajectory refused: {error}", throttle_duration_sec=2.0)
            return
        self._mailbox.put(data, time.monotonic_ns())
        self.counts["external trajectories"] += 1
