"""An emulated CAN bus as python-can sees one, and the wire behind it with the faults that wires have."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from typing import Any, Final

import can

from robot_client.emulator.arm import EmulatedArm
from robot_client.emulator.encoders import EncoderBoard

EXCHANGE_S: Final = 0.0003
"""A command and its answer on a 1 Mbit/s bus: two frames of about 130 bits."""
TRANSMIT_QUEUE: Final = 10
"""Frames a CAN interface keeps while the wire does not take them (Linux' default txqueuelen)."""
_ENOBUFS, _ENODEV, _ENETDOWN = 105, 19, 100


class Wire:
    """What one arm, and every socket opened on its channel, share."""

    def __init__(self, channel: str, arm: EmulatedArm, missing: bool = False, handle: bool = False) -> None:
        self.channel, self.arm = channel, arm
        self.handle = handle
        """A leader's encoders are on the bus too: one in its handle, or what a test puts into `encoders`."""
        self.encoders = EncoderBoard({1: 0.0})
        self.missing = missing
        """The interface does not exist or is down."""
        self.bus_off = False
        """The controller left the bus: sending fails, nothing is received."""
        self.stuck = False
        """Nobody acknowledges: frames pile up in the transmit queue and go out when the wire is back."""
        self.refuse_sends = 0
        """So many sends fail at once with "no buffer space", whatever their timeout."""
        self.exchanges = 0
        self._lock = threading.Lock()
        self._sockets: list[EmulatedBus] = []
        self._waiting: deque[can.Message] = deque()

    def open(self, socket: EmulatedBus) -> None:
        """A socket joins."""
        if self.missing:
            raise OSError(_ENODEV, "No such device")
        with self._lock:
            self._sockets.append(socket)

    def leave(self, socket: EmulatedBus) -> None:
        """A socket is closed."""
        with self._lock:
            if socket in self._sockets:
                self._sockets.remove(socket)

    def send(self, message: can.Message) -> None:
        """One frame onto the wire. Raises `can.CanOperationError` the way socketcan does."""
        with self._lock:
            if self.bus_off:
                raise can.CanOperationError("Failed to transmit: Network is down", _ENETDOWN)
            if self.refuse_sends > 0 or len(self._waiting) >= TRANSMIT_QUEUE:
                self.refuse_sends = max(0, self.refuse_sends - 1)
                raise can.CanOperationError("Failed to transmit: No buffer space available", _ENOBUFS)
            self._waiting.append(message)
            if not self.stuck:
                self._drain()

    def release(self) -> None:
        """The wire is back: what waited in the transmit queue goes out now, however old."""
        with self._lock:
            self.bus_off = self.stuck = False
            self._drain()

    @property
    def waiting(self) -> int:
        """Frames in the transmit queue."""
        return len(self._waiting)

    def _drain(self) -> None:
        while self._waiting:
            message = self._waiting.popleft()
            for frame_id, data in self._answers(message):
                self.exchanges += 1
                for socket in self._sockets:
                    socket.deliver(can.Message(arbitration_id=frame_id, data=data, is_extended_id=False))

    def _answers(self, message: can.Message) -> list[tuple[int, bytes]]:
        frame_id, data = message.arbitration_id, bytes(message.data)
        encoders = self.encoders.answers(frame_id, data) if self.handle else []
        motor = self.arm.answer(frame_id, data)
        return encoders if motor is None else [*encoders, motor]


class EmulatedBus(can.BusABC):
    """One socket on a wire. Answers arrive after the time an exchange takes on a real bus."""

    def __init__(self, channel: str, wire: Wire, **options: Any) -> None:
        self._wire = wire
        self._inbox: queue.SimpleQueue[can.Message] = queue.SimpleQueue()
        self.channel_info = f"emulated {channel}"
        wire.open(self)
        super().__init__(channel=channel)

    @property
    def state(self) -> can.BusState:
        """ERROR while bus-off."""
        return can.BusState.ERROR if self._wire.bus_off else can.BusState.ACTIVE

    @state.setter
    def state(self, new: can.BusState) -> None:
        raise can.CanOperationError("the state of an emulated bus is its wire's: set bus_off there")

    def deliver(self, message: can.Message) -> None:
        """A frame from the wire."""
        self._inbox.put(message)

    def send(self, msg: can.Message, timeout: float | None = None) -> None:
        """Onto the wire at once, or an error at once: a full queue does not wait for `timeout`, as on a real one."""
        self._wire.send(msg)

    def _recv_internal(self, timeout: float | None) -> tuple[can.Message | None, bool]:
        if self._wire.bus_off:
            time.sleep(timeout or 0.0)
            return None, False
        time.sleep(EXCHANGE_S)
        try:
            return self._inbox.get(timeout=timeout), False
        except queue.Empty:
            return None, False

    def shutdown(self) -> None:
        """Leave the wire."""
        self._wire.leave(self)
        super().shutdown()
