"""CAN interfaces as the kernel shows them: there, up, named for good, and on the adapter that the station names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from contract.arms import ArmUnit, LeaderUnit
from robot_client.doctor.lines import Line, fail, ok, warn

NET: Final = Path("/sys/class/net")
_ARPHRD_CAN: Final = "280"
"""Value of `type` for a CAN interface (linux/if_arp.h)."""
_IFF_UP: Final = 1
_PLUG_ORDER: Final = re.compile(r"^v?can\d+$")
_LEVELS_UP: Final = 4
"""The adapter's USB device lies this far above its network interface at most."""


def check_buses(units: Mapping[str, ArmUnit | LeaderUnit], net: Path = NET) -> Iterator[Line]:
    """Every configured bus. The ones in order are fit for `motors`."""
    serials = {unit.adapter_serial: name for name, unit in units.items() if unit.adapter_serial}
    for name, unit in units.items():
        yield from _check_bus(f"{name}, bus {unit.channel}", name, unit, serials, net)


def usable(unit: ArmUnit | LeaderUnit, net: Path = NET) -> bool:
    """There and up."""
    return not _trouble(unit.channel, net)


def _check_bus(
    what: str, name: str, unit: ArmUnit | LeaderUnit, serials: Mapping[str, str], net: Path
) -> Iterator[Line]:
    trouble = _trouble(unit.channel, net)
    if trouble:
        yield fail(what, *trouble)
        return
    yield ok(what, "up")
    if _PLUG_ORDER.match(unit.channel):
        yield warn(
            f"{name}, name {unit.channel}",
            "given in the order of plugging in, so it can move to another arm at the next boot",
            "name the interface after the adapter's serial number with a udev rule, for example can_left",
        )
    yield _adapter(f"{name}, adapter of {unit.channel}", name, unit, serials, net)


def _adapter(what: str, name: str, unit: ArmUnit | LeaderUnit, serials: Mapping[str, str], net: Path) -> Line:
    found = _serial(net / unit.channel)
    if not unit.adapter_serial:
        action = f"write adapter_serial = {found!r} into the station file, once you have seen which arm moves"
        return warn(what, "not named in the station file: exchanged cables would go unnoticed", action)
    if not found:
        return warn(what, "its serial number cannot be read", "make sure by hand that this bus moves the right arm")
    if found == unit.adapter_serial:
        return ok(what, f"serial {found}")
    if found in serials:
        swapped = f"serial {found}, which is the {serials[found]}'s: sides swapped"
        return fail(what, swapped, f"exchange the cables or the names of the {name} and the {serials[found]}")
    return fail(what, f"serial {found}, expected {unit.adapter_serial}", "plug the right adapter in")


def _trouble(channel: str, net: Path) -> tuple[str, str] | None:
    folder = net / channel
    if not folder.exists():
        present = ", ".join(sorted(p.name for p in net.glob("*") if _read(p / "type") == _ARPHRD_CAN)) or "none"
        return f"no such interface; CAN interfaces here: {present}", "plug the adapter in and check its udev rule"
    if _read(folder / "type") != _ARPHRD_CAN:
        return "not a CAN interface", "correct the channel in the station file"
    if not int(_read(folder / "flags") or "0", 16) & _IFF_UP:
        return "down", f"sudo ip link set {channel} up type can bitrate 1000000"
    return None


def _serial(interface: Path) -> str:
    device = (interface / "device").resolve()
    for place in [device, *device.parents][:_LEVELS_UP]:
        if serial := _read(place / "serial"):
            return serial
    return ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
