"""Reading TOML on CPython 3.10 (tomli) and later (tomllib)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from contract.errors import ConfigurationError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def parsed_toml(text: str) -> dict[str, Any]:
    """Of text that is known to be TOML, or `ConfigurationError`."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError("text", expected="TOML", got=str(error), remedy="repair it") from error


def read_toml(path: Path) -> dict[str, Any]:
    """The parsed file; raises `ConfigurationError` naming file, line and fault."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}", expected="TOML", got=str(error), remedy="repair the file") from error
    except OSError as error:
        raise ConfigurationError(
            f"{path}", expected="a readable file", got=error.strerror, remedy="check the path"
        ) from error
