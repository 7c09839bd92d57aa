"""Where i2rt keeps its model files. The only place of the robot side that knows i2rt's folder layout.

i2rt is looked up, never imported: its models are needed on machines where its CAN driver is not.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from contract.errors import ConfigurationError

STATION: Final = "yam_station_linear_4310_d405"
_REMEDY: Final = "pip install dreamscale-i2rt"


def models_directory() -> Path:
    """Folder `i2rt/robot_models`; `ConfigurationError` with the package to install when it is missing."""
    spec = find_spec("i2rt")
    places = list(spec.submodule_search_locations or []) if spec else []
    for place in places:
        folder = Path(place) / "robot_models"
        if folder.is_dir():
            return folder
    got = f"no folder robot_models in {', '.join(places)}" if places else "no package i2rt"
    raise ConfigurationError("i2rt's robot models", expected="an installed i2rt", got=got, remedy=_REMEDY)


def station_mjcf(station: str = STATION) -> Path:
    """MJCF of a dual-arm station; `ConfigurationError` listing the stations i2rt has when there is no such one."""
    return _station_file(station, ".xml")


def station_urdf(station: str = STATION) -> Path:
    """URDF of a dual-arm station, the source its MJCF was made from."""
    return _station_file(station, ".urdf")


def _station_file(station: str, suffix: str) -> Path:
    folder = models_directory() / "station"
    path = folder / station / f"{station}{suffix}"
    if not path.is_file():
        known = sorted(child.name for child in folder.glob("*") if child.name != "assets") if folder.is_dir() else []
        raise ConfigurationError(
            f"i2rt station {station}{suffix}",
            expected=f"one of {', '.join(known)}" if known else "a folder of stations",
            got=f"nothing at {path}",
            remedy=f"{_REMEDY}, version 1.3.6 or newer",
        )
    return path
