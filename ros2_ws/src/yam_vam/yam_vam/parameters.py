"""Parameters of the nodes: declared with type, range and description, and read back checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

from contract.errors import ConfigurationError
from robot_client.loop_inbox import LONGEST_TEXT


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; the type is that of `default`."""

    name: str
    default: Any
    description: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    changes: bool = False
    """May be set while the node runs; all others are read at configure."""

    def descriptor(self) -> ParameterDescriptor:
        """For `declare_parameter`."""
        made = ParameterDescriptor(description=self.description)
        if self.choices:
            made.additional_constraints = f"one of {', '.join(repr(choice) for choice in self.choices)}"
        if self.least is not None and self.most is not None:
            if isinstance(self.default, int):
                made.integer_range = [IntegerRange(from_value=int(self.least), to_value=int(self.most), step=0)]
            else:
                made.floating_point_range = [
                    FloatingPointRange(from_value=float(self.least), to_value=float(self.most), step=0.0)
                ]
        return made

    def checked(self, value: Any) -> Any:
        """The value, or `ConfigurationError`. Types and ranges are refused by ROS already."""
        if self.choices and value not in self.choices:
            raise ConfigurationError(f"parameter {self.name}", expected=f"one of {', '.join(self.choices)}", got=value)
        if isinstance(value, str) and len(value) > LONGEST_TEXT:  # no datagram to the loop takes any length
            got = f"{len(value)} characters"
            raise ConfigurationError(f"parameter {self.name}", expected=f"at most {LONGEST_TEXT} characters", got=got)
        return value


STATION: Final = Parameter("station", "twin", "name of a shipped station or path of a station file")
AUTOSTART: Final = Parameter(
    "autostart",
    "none",
    "how far the node goes by itself: none (a person configures it), configure, or activate",
    choices=("none", "configure", "activate"),
)


def declare(node: Node, parameters: tuple[Parameter, ...]) -> None:
    """Declare all."""
    for parameter in parameters:
        node.declare_parameter(parameter.name, parameter.default, parameter.descriptor())


def values_of(node: Node, parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    """Name -> checked value. Raises `ConfigurationError` naming the parameter."""
    return {p.name: p.checked(node.get_parameter(p.name).value) for p in parameters}
