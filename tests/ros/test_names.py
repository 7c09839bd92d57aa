"""rclpy keeps what a node has in attributes of the node; a class of ours that uses such a name breaks it silently."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from rclpy.lifecycle import LifecycleNode

SOURCES = Path(__file__).parents[2] / "ros2_ws" / "src" / "yam_vam" / "yam_vam"
MEANT = frozenset(
    {"__init__", *(f"on_{t}" for t in ("configure", "activate", "deactivate", "cleanup", "shutdown", "error"))}
)


def _own_names(source: str) -> Iterator[tuple[str, str]]:
    """Class and attribute or method, of every class that is a node."""
    for found in ast.walk(ast.parse(source)):
        if isinstance(found, ast.ClassDef) and any(ast.unparse(base).endswith("Node") for base in found.bases):
            for part in ast.walk(found):
                if isinstance(part, ast.FunctionDef):
                    yield found.name, part.name
                elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                    yield from [(found.name, part.attr)] if ast.unparse(part.value) == "self" else []


@pytest.mark.usefixtures("ros")
def test_no_node_of_ours_takes_a_name_that_rclpy_uses() -> None:
    """A list called `_timers` replaced the node's own: timers made before it never ran again."""
    node = LifecycleNode("names")
    taken = set(vars(node)) | set(dir(LifecycleNode))
    node.destroy_node()
    assert "_timers" in taken
    clashes = [
        f"{path.name}: {kind}.{name}"
        for path in sorted(SOURCES.rglob("*.py"))
        for kind, name in _own_names(path.read_text(encoding="utf-8"))
        if name in taken - MEANT
    ]
    assert not clashes, "\n".join(clashes)


def test_the_check_sees_a_clash() -> None:
    source = "class A(ManagedNode):\n    def __init__(self):\n        self._timers = []\n"
    assert ("A", "_timers") in set(_own_names(source))
