"""`yam-robot episode view`: an episode in a window or a file, whole or while it is being recorded."""

from __future__ import annotations

import time
from pathlib import Path

from robot_client.clock import MonotonicClock
from robot_client.episodes.formats.choose import is_bag, open_episode
from robot_client.episodes.reader import BagReader
from robot_client.episodes.view.drawing import Drawing
from robot_client.episodes.view.follow import follow
from robot_client.episodes.view.screen import Screen


def run_view(path: Path, save: Path | None, live: bool) -> int:
    """Number of messages or entries drawn. Raises `ConfigurationError` or `EpisodeError`."""
    screen = Screen(path.name, save)
    screen.open()
    try:
        return _live(path, screen) if live else _whole(path, screen)
    finally:
        screen.close()


def _whole(path: Path, screen: Screen) -> int:
    drawing, source = Drawing(screen), open_episode(path, tolerant=True)
    if not is_bag(source):
        drawn = 0
        for entry in source.entries():
            drawing.entries([entry])
            drawn += 1
        return drawn
    drawn = 0
    for message in BagReader(source.path, tolerant=True).messages():
        drawing.message(message)
        drawn += 1
    return drawn


def _live(path: Path, screen: Screen) -> int:
    drawing, drawn = Drawing(screen), 0
    for news in follow(path, MonotonicClock(), time.sleep):
        for message in news:
            drawing.message(message)
        drawn += len(news)
        if news:
            screen.flush()
    return drawn
