"""Multipart frames: one msgpack header, then one raw frame per array. No pickle, no object arrays, bounded sizes.

Arrays travel little-endian and C-contiguous; anything else is copied into that form by the sender. What cannot travel
is refused by the sender with the path of the key. Received arrays of up to `OWNED_BYTES` are private and writable;
larger ones (images) are read-only views of the received frame.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgpack
import numpy as np
from numpy.typing import NDArray

from contract.errors import CodecError, FieldError

Buffer = bytes | memoryview

MAX_HEADER_BYTES: Final = 256 * 1024
MAX_ARRAY_BYTES: Final = 64 * 1024 * 1024
MAX_ARRAYS: Final = 32
MAX_NDIM: Final = 8
OWNED_BYTES: Final = 64 * 1024
DTYPES: Final[dict[str, np.dtype]] = {
    name: np.dtype(name) for name in ("|b1", "|u1", "<u2", "<i4", "<i8", "<u8", "<f2", "<f4", "<f8")
}
_SCALARS: Final = (bool, int, float, str, type(None))


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> list[Buffer]:
    """Frames of a message. Raises `FieldError` with the path of the first thing that cannot travel."""
    if len(arrays) > MAX_ARRAYS:
        raise FieldError("arrays", expected=f"at most {MAX_ARRAYS}", got=len(arrays), remedy="send fewer arrays")
    ready = {name: _sendable(name, array) for name, array in arrays.items()}
    table = [[name, array.dtype.str, list(array.shape)] for name, array in ready.items()]
    head = _packed({**header, "arrays": table})
    if len(head) > MAX_HEADER_BYTES:
        raise FieldError("header", expected=f"at most {MAX_HEADER_BYTES} bytes", got=len(head), remedy="send less text")
    return [head, *(array.data.cast("B") if array.size else b"" for array in ready.values())]


def unpack(frames: Sequence[Buffer]) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """Header and arrays of received frames. Raises `CodecError` before anything of the claimed size is allocated."""
    if not frames:
        raise CodecError("message", expected="a header frame", got="no frames", remedy="send header and arrays")
    header = read_header(frames[0])
    table = header.pop("arrays", None)
    if not isinstance(table, list) or len(table) != len(frames) - 1 or len(table) > MAX_ARRAYS:
        raise CodecError(
            "arrays",
            expected=f"a table of {len(frames) - 1} arrays (at most {MAX_ARRAYS})",
            got=f"{type(table).__name__} of {len(table) if isinstance(table, list) else 0}",
            remedy="send one frame for each entry of the table",
        )
    arrays: dict[str, NDArray] = {}
    for entry, frame in zip(table, frames[1:], strict=True):
        name, dtype, shape = _entry(entry)
        if name in arrays:
            raise CodecError(f"array {name}", expected="one", got="two", remedy="name each array once")
        arrays[name] = _array(name, dtype, shape, memoryview(frame))
    return header, arrays


def _packed(header: dict[str, Any]) -> bytes:
    """The header as msgpack; the slow search for what cannot travel runs only when there is something to find."""
    try:
        if _is_plain(header):
            return bytes(msgpack.packb(header))
    except (ValueError, OverflowError):
        pass  # text that is no text, or a number beyond 64 bits: the search names it
    _require_plain(header, "")
    return bytes(msgpack.packb(header))


def _is_plain(value: object) -> bool:
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is dict:
        return all(type(key) is str for key in value) and all(map(_is_plain, value.values()))  # type: ignore[attr-defined]
    return kind in (list, tuple) and all(map(_is_plain, value))  # type: ignore[call-overload]


def _require_plain(value: object, path: str) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise FieldError(f"key {path}.{key!r}", expected="text", got=type(key).__name__, remedy="use text keys")
            _require_plain(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            _require_plain(item, f"{path}[{i}]")
    elif not isinstance(value, _SCALARS):
        raise FieldError(path, expected="text, number, bool or null", got=type(value).__name__, remedy="convert it")
    elif isinstance(value, str):
        _require_text(value, path)
    elif isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise FieldError(path, expected="a 64-bit integer", got=value, remedy="send a smaller number")


def _require_text(value: str, path: str) -> None:
    if any("\ud800" <= ch <= "\udfff" for ch in value):
        raise FieldError(path, expected="valid text", got=ascii(value), remedy="decode the text as UTF-8 first")


def _sendable(name: str, array: NDArray) -> NDArray:
    if not isinstance(array, np.ndarray):
        raise FieldError(f"array {name}", expected="numpy array", got=type(array).__name__, remedy="convert it")
    dtype = array.dtype.newbyteorder("<") if array.dtype.kind in "biuf" else array.dtype
    if dtype.str not in DTYPES:
        raise FieldError(
            f"array {name}", expected=f"dtype of {', '.join(DTYPES)}", got=array.dtype, remedy="convert the array"
        )
    if array.nbytes > MAX_ARRAY_BYTES or array.ndim > MAX_NDIM:
        raise FieldError(
            f"array {name}",
            expected=f"at most {MAX_ARRAY_BYTES} bytes and {MAX_NDIM} axes",
            got=f"shape {array.shape} of {array.dtype}",
            remedy="send a smaller array",
        )
    return np.asarray(array, dtype=dtype, order="C")


def read_header(frame: Buffer) -> dict[str, Any]:
    """The msgpack map of a header frame. Raises `CodecError`."""
    if len(frame) > MAX_HEADER_BYTES:
        raise CodecError(
            "header", expected=f"at most {MAX_HEADER_BYTES} bytes", got=len(frame), remedy="send less text"
        )
    try:
        header = msgpack.unpackb(frame, raw=False, strict_map_key=True, max_ext_len=0)
    except (ValueError, msgpack.exceptions.UnpackException, RecursionError) as error:
        raise CodecError(
            "header", expected="a msgpack map", got=str(error)[:200], remedy="see docs/protocol.md"
        ) from error
    if not isinstance(header, dict):
        raise CodecError("header", expected="a msgpack map", got=type(header).__name__, remedy="see docs/protocol.md")
    return header


def _entry(entry: object) -> tuple[str, np.dtype, tuple[int, ...]]:
    if not isinstance(entry, list) or len(entry) != 3:
        raise _bad_entry(entry)
    name, dtype, shape = entry
    if not isinstance(name, str) or not isinstance(dtype, str) or not isinstance(shape, list):
        raise _bad_entry(entry)
    if dtype not in DTYPES:
        raise CodecError(
            f"dtype of {name[:64]}", expected=", ".join(DTYPES), got=dtype[:64], remedy="send one of those dtypes"
        )
    if len(shape) > MAX_NDIM or not all(type(n) is int and 0 <= n <= MAX_ARRAY_BYTES for n in shape):
        raise _bad_entry(entry)
    if 0 in shape and math.prod(n or 1 for n in shape) > MAX_ARRAY_BYTES:
        raise _bad_entry(entry)  # an empty array may not hide axes that numpy cannot hold
    return name, DTYPES[dtype], tuple(shape)


def _bad_entry(entry: object) -> CodecError:
    return CodecError("arrays", expected="[name, dtype, shape]", got=repr(entry)[:200], remedy="see docs/protocol.md")


def _array(name: str, dtype: np.dtype, shape: tuple[int, ...], frame: memoryview) -> NDArray:
    size = math.prod(shape) * dtype.itemsize
    if size > MAX_ARRAY_BYTES or size != frame.nbytes:
        raise CodecError(
            f"size of {name[:64]}",
            expected=f"{size} bytes for shape {shape} (at most {MAX_ARRAY_BYTES})",
            got=f"{frame.nbytes} bytes",
            remedy="send exactly the bytes of the shape",
        )
    array = np.frombuffer(frame, dtype).reshape(shape)
    if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
        raise CodecError(f"array {name[:64]}", expected="bool bytes 0 or 1", got="others", remedy="send 0 or 1")
    if size <= OWNED_BYTES:
        return array.copy()
    array.flags.writeable = False
    return array
