"""Pictures decoded on other threads while what came before them is used."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

from robot_client.episodes.formats.entries import Entry, Picture

_PER_THREAD: Final = 3
"""Pictures on their way for each thread: one in work, one waiting, one done. Of 640x480 that is 3 MB."""


def decoded_ahead(entries: Iterable[Entry], threads: int = 0) -> Iterator[Entry]:
    """The same entries in the same order; for who will look at every picture. What does not decode is raised by `rgb`.

    `threads`: 0 = one for each core that this process may use. They live as long as the iteration.
    """
    threads = threads or len(os.sched_getaffinity(0))
    waiting: deque[Entry] = deque()
    pictures = 0
    with ThreadPoolExecutor(threads, "pictures") as pool:
        for entry in entries:
            if isinstance(entry, Picture):
                entry = replace(entry, rgb=pool.submit(entry.rgb).result)
                pictures += 1
            waiting.append(entry)
            while pictures > _PER_THREAD * threads:
                oldest = waiting.popleft()
                pictures -= isinstance(oldest, Picture)
                yield oldest
        yield from waiting
