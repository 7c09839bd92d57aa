"""What torch says of a device that failed, in one line of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from contract.errors import EngineError


@contextmanager
def device_errors(what: str) -> Iterator[None]:
    """Turns torch's errors into `EngineError`: its memory, device and compiler errors are all RuntimeErrors."""
    try:
        yield
    except RuntimeError as error:
        first = (str(error).splitlines() or [""])[0][:300]
        raise EngineError(
            what,
            expected="a run without an error of the device",
            got=f"{type(error).__name__}: {first}",
            remedy="free memory on the card, or restart the server; see nvidia-smi",
        ) from error
