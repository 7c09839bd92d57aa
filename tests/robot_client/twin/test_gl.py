"""Which OpenGL is chosen, and that the robot side stays free of it where it does not render."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from contract.errors import ConfigurationError
from robot_client.twin import gl


def _run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, env=clean | environment
    )


def test_egl_comes_first_then_osmesa_then_one_line_with_the_packages() -> None:
    assert gl._available("", lambda backend: True) == "egl"
    assert gl._available("", lambda backend: backend == "osmesa") == "osmesa"
    with pytest.raises(ConfigurationError, match=r"apt-get install libegl1 .*libosmesa6"):
        gl._available("", lambda backend: False)


def test_what_a_person_set_is_kept_if_it_works_and_never_replaced_silently() -> None:
    assert gl._available("osmesa", lambda backend: True) == "osmesa"
    with pytest.raises(ConfigurationError, match="working osmesa"):
        gl._available("osmesa", lambda backend: backend == "egl")
    with pytest.raises(ConfigurationError, match="egl, osmesa or nothing"):
        gl._available("glfw", lambda backend: True)


def test_an_egl_library_without_a_driver_does_not_count_as_working() -> None:
    """The loader library alone loads fine and then fails in the middle of making a context."""
    code = "from robot_client.twin import gl; print(gl._works('egl'))"
    assert _run(code, __EGL_VENDOR_LIBRARY_DIRS="/nonexistent").stdout.strip() == "False"


def test_choosing_after_mujoco_was_imported_is_refused() -> None:
    done = _run("import mujoco; from robot_client.twin import gl; gl.choose(lambda backend: True)")
    assert "before mujoco is imported" in done.stderr


def test_loop_planner_and_supervisor_do_not_load_the_simulator() -> None:
    modules = "robot_client.rigs.sim, robot_client.twin.handle, robot_client.twin.tasks, robot_client.twin.layouts"
    done = _run(f"import sys, {modules}; print('mujoco' in sys.modules)")
    assert (done.stdout.strip(), done.stderr) == ("False", "")
