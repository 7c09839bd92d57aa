"""Device: fixed buffers, one stream and captured launches, as an executable needs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Device(Protocol):
    """A card's memory and one stream of it. One thread at a time."""

    @property
    def stream(self) -> int:
        """Handle of the stream on which everything is ordered."""

    def allocate(self, name: str, size_bytes: int) -> int:
        """Address of a new buffer with a pinned twin on the host. Raises `EngineError` when there is no room."""

    def upload(self, name: str, array: NDArray) -> None:
        """Begin to copy a contiguous array into a buffer."""

    def download(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray:
        """Begin to copy a buffer out; the array is valid from `synchronise` until the next copy into it."""

    def capture(self, launch: Callable[[], None]) -> Any:
        """What `launch` puts on the stream, as one object to `replay`; it is not run."""

    def replay(self, captured: Any) -> None:
        """Run it."""

    def synchronise(self) -> None:
        """Wait for the stream. Raises `EngineError` with the device's error."""

    def free(self, name: str) -> None:
        """Give a buffer back."""

    def close(self) -> None:
        """Give everything back."""
