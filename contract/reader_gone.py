"""Standard output that nobody reads any more, as in `yam-policy info ... | head -1`."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_when_nobody_reads() -> Iterator[None]:
    """A command within: ends the process with code 1, and without a traceback, once its reader has gone."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        if not _nobody_reads():
            raise  # another pipe broke
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())  # for the flush when Python ends
        sys.exit(1)


def _nobody_reads() -> bool:
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))
