"""One message as it lies in a bag."""

from __future__ import annotations

from dataclasses import dataclass

from mcap.records import Channel, Schema


@dataclass(slots=True, eq=False)
class RawMessage:
    """Not changed by anyone; not frozen, because making a frozen one takes a third of the time of reading it."""

    topic: str
    ros_type: str
    log_ns: int
    publish_ns: int
    sequence: int
    data: bytes
    channel: Channel
    schema: Schema | None
