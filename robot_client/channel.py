"""A local two-way channel between processes of one robot: one datagram a message, nothing ever waits.

AF_UNIX SOCK_SEQPACKET keeps message borders and tells when the other side is gone. A datagram is a little-endian u32
count of frames, a u32 length for each, then the frames of `contract.wire`. When the peer does not read, sending drops
and counts.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Sequence
from typing import Final

from contract.errors import CodecError, FieldError
from contract.wire import MAX_ARRAYS, Buffer

BUFFER_BYTES: Final = 2 * 1024 * 1024
"""Asked of the kernel for each direction; it may grant less (net.core.wmem_max)."""
MAX_DATAGRAM_BYTES: Final = 160 * 1024
"""Below the send buffer that an unprivileged process gets on a stock kernel (208 KiB)."""
_U32: Final = struct.Struct("<I")


class Channel:
    """One end. Made by `channel_pair` or, in a child process, by `channel_from_fd`."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._buffer = bytearray(MAX_DATAGRAM_BYTES)
        self.dropped = 0
        """Messages not sent because the peer did not read, or was gone."""
        self.closed = False
        """The other side closed its end or died; everything it had sent has been received."""

    def fileno(self) -> int:
        """For `select` and for handing the end to a child."""
        return self._socket.fileno()

    def send(self, frames: Sequence[Buffer]) -> bool:
        """Send one message or drop it, at once. Raises `FieldError` when it is larger than a datagram may be."""
        sizes = [len(frame) for frame in frames]
        head = b"".join(_U32.pack(number) for number in (len(sizes), *sizes))
        if len(head) + sum(sizes) > MAX_DATAGRAM_BYTES:
            raise FieldError(
                "local message",
                expected=f"at most {MAX_DATAGRAM_BYTES} bytes",
                got=len(head) + sum(sizes),
                remedy="send less",
            )
        try:
            self._socket.sendmsg([head, *frames])
            return True
        except (BlockingIOError, BrokenPipeError, ConnectionResetError):
            self.dropped += 1
        except OSError as error:
            if error.errno not in (errno.ENOBUFS, errno.EMSGSIZE, errno.ENOTCONN, errno.EBADF):
                raise
            self.dropped += 1
        return False

    def receive(self) -> list[Buffer] | None:
        """The next message, or None when there is none now (then look at `closed`). Raises `CodecError` on nonsense."""
        try:
            size, _, flags, _ = self._socket.recvmsg_into([self._buffer])
        except BlockingIOError:
            return None
        except (ConnectionResetError, OSError):
            self.closed = True
            return None
        if size == 0:
            self.closed = True
            return None
        if flags & socket.MSG_TRUNC:
            raise CodecError("local message", expected=f"at most {MAX_DATAGRAM_BYTES} bytes", got="more")
        return _split(memoryview(bytes(memoryview(self._buffer)[:size])))

    def close(self) -> None:
        """Give this end up; the peer sees it as `closed`."""
        self._socket.close()


def channel_pair() -> tuple[Channel, Channel]:
    """Two connected ends. Pass one to a child by `pass_fds=[end.fileno()]` and close it in the parent."""
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return _ready(left), _ready(right)


def channel_from_fd(descriptor: int) -> Channel:
    """The end that a parent process passed on as `descriptor`."""
    return _ready(socket.socket(fileno=descriptor))


def _ready(sock: socket.socket) -> Channel:
    sock.setblocking(False)
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        sock.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)
    return Channel(sock)


def _split(data: memoryview) -> list[Buffer]:
    bad = CodecError("local message", expected="count, lengths, frames", got=f"{len(data)} other bytes")
    if len(data) < _U32.size:
        raise bad
    count = _U32.unpack_from(data)[0]
    start = _U32.size * (1 + count)
    if count > MAX_ARRAYS + 1 or len(data) < start:
        raise bad
    frames: list[Buffer] = []
    for i in range(count):
        size = _U32.unpack_from(data, _U32.size * (1 + i))[0]
        frames.append(data[start : start + size])
        start += size
    if start != len(data):
        raise bad
    return frames
