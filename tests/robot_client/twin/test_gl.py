"""Which OpenGL is chosen."""

from __future__ import annotations

import subprocess
import sys

import pytest

from contract.errors import ConfigurationError
from robot_client.twin import gl


def test_egl_comes_first_then_osmesa_then_one_line_with_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gl._available(lambda library: True) == "egl"
    assert gl._available(lambda library: "OSMesa" in library) == "osmesa"
    with pytest.raises(ConfigurationError, match=r"apt-get install libegl1 .*libosmesa6"):
        gl._available(lambda library: False)


def test_what_a_person_set_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUJOCO_GL", "osmesa")
    assert gl.choose(lambda library: False) == "osmesa"


def test_choosing_after_mujoco_was_imported_is_refused() -> None:
    code = "import os; os.environ.pop('MUJOCO_GL', None); import mujoco; from robot_client.twin import gl; gl.choose()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "before mujoco is imported" in done.stderr
