"""What the driver says of the first card, read through its own libraries: no CUDA context, no memory, no waiting."""

from __future__ import annotations

import ctypes
from functools import lru_cache


class _Memory(ctypes.Structure):
    """nvmlMemory_t of nvml.h."""

    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    return None if library.nvmlInit_v2() else library


def memory_bytes() -> tuple[int, int] | None:
    """Used and total memory of the first card; None where there is no driver or no card."""
    library = _library()
    if library is None:
        return None
    device, memory = ctypes.c_void_p(), _Memory()
    if library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)):
        return None
    if library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)):
        return None
    return int(memory.used), int(memory.total)
