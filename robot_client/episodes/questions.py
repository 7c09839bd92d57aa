"""`python -m robot_client.episodes.questions EPISODE`: the observations of an episode as messages on standard output.

For `yam-policy verify --episode`, which asks two engines what a robot really asked. The policy server reads no
episodes, so it runs this as a process of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import tyro

from contract.codec import encode
from contract.errors import EpisodeError, StackError
from contract.frame_stream import write_message
from contract.types import Observation
from robot_client.episodes import channels as topics
from robot_client.episodes.reader import BagReader
from robot_client.episodes.replans import ReplanReader


def questions_of(path: Path, most: int) -> Iterator[Observation]:
    """At most so many observations, evenly over the episode. Raises `EpisodeError` when it has none, or is damaged."""
    count = sum(1 for _ in BagReader(path).messages([topics.OBSERVATION]))
    if count == 0:
        raise EpisodeError(
            f"{path}", expected="observations that a policy was sent", got="none", remedy="give an episode of a policy"
        )
    step = max(1, -(-count // most))
    for number, replan in enumerate(ReplanReader(BagReader(path)).replans()):
        if number % step == 0:
            yield replan.observation


def main(path: Annotated[Path, tyro.conf.Positional], most: int = 25) -> None:
    """Write them.

    Args:
        path: episode folder or file.
        most: how many at most, evenly over the episode.
    """
    try:
        for observation in questions_of(path, max(1, most)):
            write_message(sys.stdout.buffer, encode(observation, 1))
        sys.stdout.buffer.flush()
    except StackError as error:
        print(error, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    tyro.cli(main)
