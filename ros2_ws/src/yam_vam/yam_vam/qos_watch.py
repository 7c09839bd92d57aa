"""Ends of a topic that cannot talk to each other are named, with both sides' values, before anybody wonders.

DDS connects nothing and says little when two QoS profiles or two types do not fit. This looks at the graph twice a
second, and at once when the middleware reports an incompatible peer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

LOOK_S: Final = 0.5
_FOREVER_NS: Final = 9223372036854775807


@dataclass(frozen=True, slots=True)
class Ours:
    """One end of ours. `alone`: two publishers are trouble, each would believe that it drives the arms."""

    topic: str
    kind: str
    qos: QoSProfile
    reads: bool
    alone: bool = False


class QosWatch:
    """`troubles` has a line for each topic that is not as it should be; `say` is called once with each new line."""

    def __init__(self, node: Node, say: Callable[[str], None]) -> None:
        self._node, self._say = node, say
        self._ours: list[Ours] = []
        self._destroy: list[Callable[[], object]] = []
        self.troubles: dict[str, str] = {}
        self._timer = node.create_timer(LOOK_S, self.look)

    def subscribe(
        self,
        topic: str,
        kind: Any,
        qos: QoSProfile,
        callback: Callable[[Any], None],
        alone: bool = False,
        raw: bool = False,
    ) -> Any:
        """A watched subscription. `raw`: the callback gets CDR bytes."""
        ours = Ours(self._node.resolve_topic_name(topic), _name_of(kind), qos, True, alone)
        events = SubscriptionEventCallbacks(incompatible_qos=partial(self._reported, ours), use_default_callbacks=False)
        made = self._node.create_subscription(kind, topic, callback, qos, event_callbacks=events, raw=raw)
        self._ours.append(ours)
        self._destroy.append(partial(self._node.destroy_subscription, made))
        return made

    def advertise(self, topic: str, kind: Any, qos: QoSProfile, alone: bool = False) -> Any:
        """A watched publisher."""
        ours = Ours(self._node.resolve_topic_name(topic), _name_of(kind), qos, False, alone)
        events = PublisherEventCallbacks(incompatible_qos=partial(self._reported, ours), use_default_callbacks=False)
        made = self._node.create_publisher(kind, topic, qos, event_callbacks=events)
        self._ours.append(ours)
        self._destroy.append(partial(self._node.destroy_publisher, made))
        return made

    def close_all(self) -> None:
        """Destroy every end that was made here."""
        for destroy in self._destroy:
            destroy()
        self._destroy.clear()
        self._ours.clear()
        self.troubles = {}

    def look(self) -> None:
        """Compare every end of ours with what the graph says of its peers."""
        found: dict[str, str] = {}
        for ours in self._ours:
            if line := self._trouble(ours):
                found[ours.topic] = line
        before, self.troubles = self.troubles, found
        for topic, line in found.items():
            if before.get(topic) != line:
                self._say(line)

    def _reported(self, ours: Ours, event: Any) -> None:
        """The middleware has met a peer that does not fit; it does not say which one, the graph does."""
        line = self._trouble(ours)
        if line and self.troubles.get(ours.topic) != line:
            self.troubles[ours.topic] = line
            self._say(line)

    def _trouble(self, ours: Ours) -> str:
        publishers = self._node.get_publishers_info_by_topic(ours.topic)
        if ours.alone and len(publishers) > 1:
            names = ", ".join(sorted(_full_name(peer) for peer in publishers))
            return f"{ours.topic}: {len(publishers)} publishers, expected one: {names} (stop all but one)"
        readers = self._node.get_subscriptions_info_by_topic(ours.topic)
        for peer in publishers if ours.reads else readers:
            if peer.topic_type != ours.kind:
                says = "offers" if ours.reads else "wants"
                return f"{ours.topic}: {_full_name(peer)} {says} type {peer.topic_type}, ours is {ours.kind}"
            if line := _mismatch(ours, peer):
                return line
        return ""


def _mismatch(ours: Ours, peer: Any) -> str:
    offer, request = (peer.qos_profile, ours.qos) if ours.reads else (ours.qos, peer.qos_profile)
    named = unfit(offer, request)
    if not named:
        return ""
    wanted, offered = _values(request, named), _values(offer, named)
    who, whose = ("we ask", f"{_full_name(peer)} offers") if ours.reads else (f"{_full_name(peer)} asks", "we offer")
    return f"{ours.topic}: {who} for {wanted}, {whose} {offered}: nothing arrives (make the two agree)"


def unfit(offer: QoSProfile, request: QoSProfile) -> list[str]:
    """Policies by which DDS does not connect the two (OMG DDS 1.4, 2.2.3): what is offered is less than is asked for.

    rclpy's own check takes "no deadline" of a profile of ours, 0, for the shortest one.
    """
    named = []
    if request.reliability == ReliabilityPolicy.RELIABLE and offer.reliability == ReliabilityPolicy.BEST_EFFORT:
        named.append("reliability")
    if request.durability == DurabilityPolicy.TRANSIENT_LOCAL and offer.durability == DurabilityPolicy.VOLATILE:
        named.append("durability")
    if _endless(offer.deadline) > _endless(request.deadline):
        named.append("deadline")
    if request.liveliness == LivelinessPolicy.MANUAL_BY_TOPIC and offer.liveliness == LivelinessPolicy.AUTOMATIC:
        named.append("liveliness")
    if _endless(offer.liveliness_lease_duration) > _endless(request.liveliness_lease_duration):
        named.append("liveliness_lease_duration")
    return named


def _endless(duration: Any) -> int:
    """Nanoseconds; both ways to say "for ever" are one."""
    return int(duration.nanoseconds) or _FOREVER_NS


def _values(qos: QoSProfile, names: list[str]) -> str:
    return ", ".join(f"{name} {getattr(getattr(qos, name), 'name', getattr(qos, name))}" for name in names)


def _full_name(peer: Any) -> str:
    return f"{peer.node_namespace.rstrip('/')}/{peer.node_name}"


def _name_of(kind: Any) -> str:
    package, middle, _ = kind.__module__.split(".", 2)
    return f"{package}/{middle}/{kind.__name__}"
