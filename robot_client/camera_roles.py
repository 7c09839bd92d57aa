"""Which camera of the station plays which role of the policy: by name, never by position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contract.check import check_camera_roles
from contract.errors import ConfigurationError, FieldError
from contract.server_info import ServerInfo
from contract.station import Camera


def bind_cameras(cameras: Sequence[Camera], chosen: Mapping[str, str], info: ServerInfo) -> dict[str, Camera]:
    """Role of the policy -> camera of the station.

    Without a choice every camera plays the role of its name, and the names must be the policy's: a camera too many is
    refused like one too few. With a choice (policy role -> station role) it is obeyed, and cameras it leaves out are
    not used. Raises `FieldError` with both sets of roles, `ConfigurationError` for a choice that uses a camera twice.
    """
    check_camera_roles(offered_roles(cameras, chosen), info)
    by_role = {camera.role: camera for camera in cameras}
    pairs = chosen or {role: role for role in by_role}
    return {role: by_role[station_role] for role, station_role in pairs.items()}


def offered_roles(cameras: Sequence[Camera], chosen: Mapping[str, str]) -> set[str]:
    """Policy roles that the station can fill, before any server is asked."""
    have = [camera.role for camera in cameras]
    if len(set(have)) != len(have):
        raise ConfigurationError("cameras", expected="each role once", got=have, remedy="mend the station file")
    unknown = sorted(set(chosen.values()) - set(have))
    if unknown:
        raise FieldError(
            "camera map", expected=f"cameras of the station: {sorted(have)}", got=unknown, remedy="mend the map"
        )
    if len(set(chosen.values())) != len(chosen):
        raise ConfigurationError(
            "camera map", expected="each camera in one role", got=dict(chosen), remedy="give each role its own camera"
        )
    return set(chosen) if chosen else set(have)
