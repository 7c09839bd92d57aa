"""Questions that a robot really asked: the observations of a recorded episode."""

from __future__ import annotations

import importlib.util
import io
import subprocess
import sys
from pathlib import Path
from typing import Final

from contract.check import check_observation
from contract.codec import decode
from contract.errors import ConfigurationError
from contract.frame_stream import read_messages
from contract.server_info import ServerInfo
from contract.types import Observation
from policy_server.verify.observations import Question

MOST: Final = 25
"""Observations of one episode, evenly over it."""
_READER: Final = "robot_client.episodes.questions"
_READ_S: Final = 120.0


def recorded(episode: Path, info: ServerInfo, most: int = MOST) -> tuple[Question, ...]:
    """Observations of an episode that this policy could have been asked.

    The robot's side reads its own episodes: as a process, since the server imports nothing of it. Raises
    `ConfigurationError` when it is not installed or cannot read the episode, `FieldError` for an observation of
    another camera, size or layout.
    """
    if importlib.util.find_spec("robot_client") is None:
        raise ConfigurationError(
            "--episode", expected="the robot's side installed too", got="no robot_client", remedy="install all of it"
        )
    messages = [decode(frames).message for frames in read_messages(io.BytesIO(_read(episode, most)))]
    observations = [message for message in messages if isinstance(message, Observation)]
    for observation in observations:
        check_observation(observation, info)
    return tuple(Question(f"recorded, sequence {one.sequence}", one) for one in observations)


def _read(episode: Path, most: int) -> bytes:
    command = [sys.executable, "-m", _READER, str(episode), "--most", str(most)]
    try:
        run = subprocess.run(command, capture_output=True, timeout=_READ_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise ConfigurationError(
            "--episode", expected=f"read within {_READ_S:g} s", got="still reading", remedy="give a shorter episode"
        ) from error
    if run.returncode:
        said = run.stderr.decode(errors="replace").strip().splitlines() or ["nothing"]
        raise ConfigurationError(
            "--episode", expected="an episode with a policy", got=said[-1], remedy="yam-robot episode info tells more"
        )
    return run.stdout
