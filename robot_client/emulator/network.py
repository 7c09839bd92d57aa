"""The emulated CAN channels of one process, put in the place of python-can's buses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import can

from robot_client.emulator.bus import EmulatedBus, Wire

_BUS: Final = "Bus"


class Network:
    """Channels by name. Opening any other channel fails as on a machine that does not have it."""

    def __init__(self, *wires: Wire) -> None:
        self.wires = {wire.channel: wire for wire in wires}

    def open_bus(self, channel: str, **options: Any) -> EmulatedBus:
        """Takes the arguments of `can.interface.Bus`."""
        wire = self.wires.get(channel)
        if wire is None:
            raise OSError(19, "No such device")
        return EmulatedBus(channel, wire, **options)


@contextmanager
def redirected(network: Network) -> Iterator[Network]:
    """`can.interface.Bus` opens channels of `network` while this lasts. i2rt names socketcan; the name is ignored."""
    before = can.interface.Bus
    install(network)
    try:
        yield network
    finally:
        setattr(can.interface, _BUS, before)


def install(network: Network) -> None:
    """As `redirected`, for the rest of this process."""
    setattr(can.interface, _BUS, network.open_bus)
