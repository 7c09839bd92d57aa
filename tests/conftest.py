"""OpenGL is chosen once, before any test module imports MuJoCo (i2rt does, so a test of the arms can be first)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from robot_client.twin import gl

gl.choose()

if TYPE_CHECKING:
    from robot_client.twin.twin import Twin


@pytest.fixture(scope="session")
def twin() -> Iterator[Twin]:
    """One compiled twin in simulated time; every test resets it."""
    from robot_client.twin.twin import make_twin

    made = make_twin()
    yield made
    made.close()
