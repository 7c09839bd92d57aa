"""The environment of openpi's public client: its own, because it needs numpy below 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from contract.errors import ConfigurationError

FOLDER: Final = Path(__file__).resolve().parents[2] / ".venv-openpi"
PACKAGES: Final = ("openpi-client", "typing_extensions")
"""The client imports typing_extensions without asking for it."""
_INSTALL_S: Final = 600.0
_ASK: Final = "from importlib.metadata import version as v; print(v('openpi-client'), v('websockets'), v('numpy'))"


def interpreter(folder: Path = FOLDER) -> tuple[Path, str]:
    """Python of the environment, made when missing, and the versions in it.

    Raises `ConfigurationError` saying why there is none, for example without a network.
    """
    python = folder / "bin" / "python"
    if not python.is_file():
        _run([sys.executable, "-m", "venv", str(folder)])
    try:
        versions = _run([str(python), "-c", _ASK])
    except ConfigurationError:
        _run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES])
        versions = _run([str(python), "-c", _ASK])
    return python, "openpi-client {}, websockets {}, numpy {}".format(*versions.split())


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _missing(str(error)) from error
    if done.returncode:
        raise _missing(" ".join(done.stderr.strip().splitlines()[-1:]))
    return done.stdout


def _missing(why: str) -> ConfigurationError:
    return ConfigurationError(
        "openpi's client", expected=f"pip install {' '.join(PACKAGES)}", got=why[:300], remedy=f"see {FOLDER.name}"
    )
