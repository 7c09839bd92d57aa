"""What `--cameras ROLE=SOURCE` means: other devices, or which camera of the station plays which role of the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contract.errors import ConfigurationError
from contract.station import Station


@dataclass(frozen=True, slots=True)
class CameraChoice:
    """`devices`: role of the station -> KIND:NAME. `roles`: role of the policy -> of the station; empty: by name."""

    devices: Mapping[str, str]
    roles: Mapping[str, str]

    def unused(self, station: Station) -> list[str]:
        """Cameras of the station that a map leaves out."""
        used = set(self.roles.values())
        return [camera.role for camera in station.cameras if self.roles and camera.role not in used]


def parse_cameras(pairs: Sequence[str]) -> dict[str, str]:
    """`ROLE=SOURCE` texts -> role to source. Raises `ConfigurationError` for another form or a role given twice."""
    chosen: dict[str, str] = {}
    for pair in pairs:
        role, equals, source = pair.partition("=")
        if not equals or not role or not source or role in chosen:
            got = f"{role} twice" if role in chosen else repr(pair)
            raise ConfigurationError(
                "--cameras", expected="ROLE=SOURCE, each role once", got=got, remedy="for example top=front"
            )
        chosen[role] = source
    return chosen


def choice_of(chosen: Mapping[str, str], station: Station, rig: str) -> CameraChoice:
    """A source with a colon is a device for the station's camera of that role; others are cameras of the station.

    With any of these the map is whole: cameras that it leaves out are not used. Raises `ConfigurationError` for a
    camera that the station does not have, one in two roles, and devices on a rig that brings its own cameras.
    """
    have = [camera.role for camera in station.cameras]
    devices = {role: source for role, source in chosen.items() if ":" in source}
    roles = {role: source for role, source in chosen.items() if ":" not in source}
    if devices and rig != "yam":
        raise ConfigurationError(
            "--cameras", expected=f"cameras of the station: {', '.join(have)}", got=f"a device on rig {rig}",
            remedy="devices are for --rig yam",
        )  # fmt: skip
    strange = sorted({*devices, *roles.values()} - set(have))
    if strange:
        raise ConfigurationError("--cameras", expected=f"cameras of the station: {', '.join(have)}", got=strange)
    if roles:
        roles |= {role: role for role in devices if role not in roles}
    if len(set(roles.values())) != len(roles):
        raise ConfigurationError("--cameras", expected="each camera in one role", got=dict(roles))
    return CameraChoice(devices, roles)
