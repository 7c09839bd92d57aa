"""`yam-robot episode report`: the page that a run writes at its end, from an episode of any layout, with a film."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from contract.errors import EpisodeError
from robot_client.demo.report import write_report
from robot_client.episodes.entries_history import history_of, tiles_of
from robot_client.episodes.filmed import film_episode
from robot_client.episodes.formats.choose import is_bag, open_episode
from robot_client.episodes.history import EpisodeHistory
from robot_client.episodes.imagined import ImaginedReel
from robot_client.episodes.info import EpisodeInfo, info_of_source


def run_report(path: Path, out: Path, say: Callable[[str], None]) -> None:
    """Page `out` and film beside it. Raises `EpisodeError` when the episode or the disk does not allow it."""
    source = open_episode(path, tolerant=True)
    reel, info = ImaginedReel(), info_of_source(source)
    if is_bag(source):
        reel.read(source.path)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        film = out.with_suffix(".mp4")
        film.unlink(missing_ok=True)
        filmed = film_episode(source, reel, film, say)
        _write(path, out, film if filmed else None, info)
    except OSError as error:
        raise EpisodeError(
            f"{out}", expected="a page and a film", got=str(error), remedy="choose another --out"
        ) from error
    say(f"report: {out}" + (f"\nfilm:   {film}" if filmed else "\nno film: there are no camera frames"))


def _write(path: Path, out: Path, film: Path | None, info: EpisodeInfo) -> None:
    notice = "" if info.complete else "INCOMPLETE: " + "; ".join(info.missing)
    if "/loop/tick" in info.counts:
        told = EpisodeHistory(path)
        told.read()
        write_report(out, told.history, told.facts, notice, film, title="Episode")
        return
    source = open_episode(path, tolerant=True)
    history = history_of(source)
    facts = {"layout": info.layout, **source.facts, "modes": ", ".join(history.modes)}
    tiles = tiles_of(history, info.seconds, info.missing)
    write_report(out, history, facts, notice, film, title="Episode", tiles=tiles)
