"""Which OpenGL MuJoCo renders with: EGL or OSMesa, whichever works on this machine.

MuJoCo reads `MUJOCO_GL` when it is first imported, so `choose` runs before that, in the entry points.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from typing import Final

from contract.errors import ConfigurationError

REMEDY: Final = "apt-get install libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri (or, on older releases, libosmesa6)"


def choose(works: Callable[[str], bool] | None = None) -> str:
    """Set `MUJOCO_GL` (and PyOpenGL's platform) and return it; what a person set is kept if it works.

    Raises `ConfigurationError` naming the packages when neither works, or when MuJoCo was imported before the choice.
    """
    if sys.platform != "linux":
        return "native"
    wanted = os.environ.get("MUJOCO_GL", "")
    backend = _available(wanted, works or _works)
    if wanted != backend and "mujoco" in sys.modules:
        raise ConfigurationError(
            "choice of OpenGL", expected="it comes before mujoco is imported", remedy="set MUJOCO_GL=egl or osmesa"
        )
    os.environ["MUJOCO_GL"] = os.environ["PYOPENGL_PLATFORM"] = backend
    return backend


def _available(wanted: str, works: Callable[[str], bool]) -> str:
    if wanted not in ("", "egl", "osmesa"):
        raise ConfigurationError("MUJOCO_GL", expected="egl, osmesa or nothing", got=wanted, remedy="unset MUJOCO_GL")
    for backend in (wanted,) if wanted else ("egl", "osmesa"):
        if works(backend):
            return backend
    raise ConfigurationError(
        "off-screen rendering", expected=f"a working {wanted or 'EGL or OSMesa'}", got="none", remedy=REMEDY
    )


def _works(backend: str) -> bool:
    """EGL must have a device, because its library can be there without a driver."""
    if backend == "egl":
        return _loads("libGL.so.1") and _loads("libEGL.so.1") and _egl_devices() > 0
    return any(_loads(f"libOSMesa.so{version}") for version in (".8", ".6", ""))


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _egl_devices() -> int:
    """Number of devices by `eglQueryDevicesEXT` (EGL_EXT_device_enumeration), with which MuJoCo starts its context."""
    address_of = ctypes.CDLL("libEGL.so.1").eglGetProcAddress
    address_of.restype, address_of.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    address = address_of(b"eglQueryDevicesEXT")
    if not address:
        return 0
    query = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))(address)
    count = ctypes.c_int(0)
    return count.value if query(0, None, ctypes.byref(count)) else 0
