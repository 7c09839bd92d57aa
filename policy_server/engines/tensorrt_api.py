"""TensorRT and TensorRT-RTX by name: one programming interface, two libraries, neither needed by anything else."""

from __future__ import annotations

import ctypes
import importlib
from types import ModuleType
from typing import Final

from contract.errors import EngineError
from policy_server.compiled.target import Compiler

MODULES: Final[dict[Compiler, tuple[str, ...]]] = {
    "tensorrt_rtx": ("tensorrt_rtx", "tensorrt_rtx_bindings"),
    "tensorrt": ("tensorrt",),
}
_INSTALL: Final[dict[Compiler, str]] = {
    "tensorrt_rtx": "pip install 'yam-video-action[rtx]'",
    "tensorrt": "pip install tensorrt-cu13",
}
_OLDEST_DRIVER: Final = 1000


def tensorrt_module(compiler: Compiler) -> ModuleType:
    """The library. Raises `EngineError` saying how to install it; a broken installation counts as missing."""
    faults = []
    for name in MODULES[compiler]:
        try:
            return importlib.import_module(name)
        except (ImportError, OSError) as error:
            faults.append(f"{name}: {error}")
    raise EngineError(f"compiler {compiler}", expected="installed", got="; ".join(faults), remedy=_INSTALL[compiler])


def cuda_driver() -> str:
    """Version of the CUDA driver, for example "13.0"; empty where there is none."""
    version = ctypes.c_int(0)
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return ""
    if library.cuDriverGetVersion(ctypes.byref(version)) or version.value < _OLDEST_DRIVER:
        return ""
    return f"{version.value // 1000}.{version.value % 1000 // 10}"


def current_card() -> tuple[str, str]:
    """Compute capability ("sm120") and name of the first card; both empty where there is none."""
    if not cuda_driver():
        return "", ""
    cuda = ctypes.CDLL("libcuda.so.1")
    device, major, minor, name = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(256)
    # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR of cuda.h.
    if (
        cuda.cuInit(0)
        or cuda.cuDeviceGet(ctypes.byref(device), 0)
        or cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
        or cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
        or cuda.cuDeviceGetName(name, len(name), device)
    ):
        return "", ""
    return f"sm{major.value}{minor.value}", name.value.decode(errors="replace")
