"""`python -m robot_client.twin --run-dir DIR`: the twin in its own process."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from contract.errors import StackError
from robot_client.twin import gl
from robot_client.twin.settings import OVERVIEW_HZ, POLICY_HZ, TwinSettings


@dataclass(frozen=True)
class Arguments:
    """Run the digital twin of the dual-arm YAM station in real time, for processes that share its run directory."""

    run_dir: Path
    """Folder of the mailboxes; best on a memory file system."""
    seed: int = 0
    """Which layout."""
    instruction: str = ""
    """What is asked; empty leaves the choice to the seed."""
    size: tuple[str, ...] = ()
    """Image sizes that differ from the defaults, as ROLE=WIDTHxHEIGHT."""
    policy_hz: float = POLICY_HZ
    """Frames a second of the policy's cameras; 0 turns them off."""
    overview_hz: float = OVERVIEW_HZ
    """Frames a second of the overview for people; 0 turns it off."""
    shadows: bool = False
    """Shadows in the overview; about three times its cost."""
    lifeline_fd: int | None = None
    """Inherited descriptor whose end of file means that the parent is gone: brake, hold, park, exit."""


def main() -> int:
    """Entry point. OpenGL is chosen before anything imports MuJoCo."""
    arguments = tyro.cli(Arguments, prog="python -m robot_client.twin")
    try:
        gl.choose()
        settings = _settings(arguments)
    except StackError as error:
        print(f"twin: {error}", file=sys.stderr)
        return 2
    from robot_client.twin.process import run

    return run(settings)


def _settings(arguments: Arguments) -> TwinSettings:
    from robot_client.twin.cameras import parse_size

    sizes = dict(parse_size(text) for text in arguments.size)
    return TwinSettings(
        run_dir=arguments.run_dir,
        seed=arguments.seed,
        instruction=arguments.instruction,
        policy_hz=arguments.policy_hz,
        overview_hz=arguments.overview_hz,
        shadows=arguments.shadows,
        sizes={role: (size.width, size.height) for role, size in sizes.items()},
        lifeline_fd=arguments.lifeline_fd,
    )


if __name__ == "__main__":
    sys.exit(main())
