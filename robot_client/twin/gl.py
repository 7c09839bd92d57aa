"""Which OpenGL MuJoCo renders with: EGL or OSMesa, whichever this machine has.

MuJoCo reads `MUJOCO_GL` when it is first imported, so `choose` runs before that, in the entry points.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from typing import Final

from contract.errors import ConfigurationError

_LIBRARIES: Final[dict[str, tuple[str, ...]]] = {
    "egl": ("libEGL.so.1", "libGL.so.1"),
    "osmesa": ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"),
}
REMEDY: Final = "apt-get install libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri (or, on older releases, libosmesa6)"


def choose(loads: Callable[[str], bool] | None = None) -> str:
    """Set `MUJOCO_GL` (and PyOpenGL's platform) unless a person did, and return it.

    Raises `ConfigurationError` naming the packages when neither library is there, or when MuJoCo came first.
    """
    wanted = os.environ.get("MUJOCO_GL")
    if wanted or sys.platform != "linux":
        return wanted or "native"
    if "mujoco" in sys.modules:
        raise ConfigurationError(
            "choice of OpenGL", expected="it comes before mujoco is imported", remedy="set MUJOCO_GL=egl or osmesa"
        )
    backend = _available(loads or _loads)
    os.environ["MUJOCO_GL"] = os.environ["PYOPENGL_PLATFORM"] = backend
    return backend


def _available(loads: Callable[[str], bool]) -> str:
    if all(loads(library) for library in _LIBRARIES["egl"]):
        return "egl"
    if any(loads(library) for library in _LIBRARIES["osmesa"]):
        return "osmesa"
    raise ConfigurationError("off-screen rendering", expected="EGL or OSMesa", got="neither library", remedy=REMEDY)


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
