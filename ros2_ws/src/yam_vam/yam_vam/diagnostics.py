"""A node's own line on /diagnostics, once a second."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from yam_vam.topics import table

EVERY_S: Final = 1.0

Report = Callable[[], tuple[bool, str, Mapping[str, object]]]
"""Whether all is well, in words, and values."""


class Diagnostics:
    """Publishes until `close`."""

    def __init__(self, node: Node, report: Report) -> None:
        topic = table()["/diagnostics"]
        self._node, self._report = node, report
        self._publisher = node.create_publisher(topic.kind, topic.name, topic.qos)
        self._timer = node.create_timer(EVERY_S, self.publish)

    def publish(self) -> None:
        """Say it now."""
        well, text, values = self._report()
        status = DiagnosticStatus(
            level=DiagnosticStatus.OK if well else DiagnosticStatus.WARN,
            name=self._node.get_fully_qualified_name(),
            message=text,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)

    def close(self) -> None:
        """Nothing more is said."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_publisher(self._publisher)
