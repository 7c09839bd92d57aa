"""Files of this package that are no Python: beside it in the repository, in its share folder after colcon."""

from __future__ import annotations

from pathlib import Path

from contract.errors import ConfigurationError


def shared_file(name: str) -> Path:
    """The file, for example "urdf/yam_station.urdf". Raises `ConfigurationError` when it was not installed."""
    beside = Path(__file__).resolve().parents[1] / name
    if beside.is_file():
        return beside
    for folder in Path(__file__).resolve().parents:
        built = folder / "share" / "yam_vam" / name
        if built.is_file():
            return built
    raise ConfigurationError(f"file of yam_vam {name}", expected="one", got="none", remedy="build again with colcon")
