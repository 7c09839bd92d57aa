"""`python -m policy_server.bench.echo_server`: the floor. Copies the images of a request once, returns a fixed reply.

A bare ROUTER and nothing else: no header is read and nothing is checked.
"""

from __future__ import annotations

import sys
from typing import Final

import numpy as np
import zmq

SET_REPLY: Final = b"set reply"
"""First frame of the message whose other frames are the reply from then on."""
REUSE: Final = b"reuse"
"""First frame of a request whose images are copied into memory kept from the last one, not into new memory."""
_IMAGE_BYTES: Final = 100_000


def main() -> None:
    """Serve until standard input ends."""
    socket: zmq.Socket = zmq.Context().socket(zmq.ROUTER)
    socket.bind("tcp://127.0.0.1:*")
    print("READY", socket.get_string(zmq.LAST_ENDPOINT).rstrip("\0"), flush=True)
    poller = zmq.Poller()
    poller.register(socket, zmq.POLLIN)
    poller.register(sys.stdin.fileno(), zmq.POLLIN)
    reply: list[bytes] = []
    kept: list[np.ndarray] = []
    while sys.stdin.fileno() not in dict(poller.poll()):
        peer, kind, *frames = socket.recv_multipart(copy=False)
        if kind.bytes == SET_REPLY:
            reply = [frame.bytes for frame in frames]
        images = [np.frombuffer(frame.buffer, np.uint8) for frame in frames if len(frame) > _IMAGE_BYTES]
        if kind.bytes != REUSE or len(kept) != len(images):
            kept = [np.empty_like(image) for image in images]
        for target, image in zip(kept, images, strict=True):
            np.copyto(target, image)
        socket.send_multipart([peer, *reply], copy=False)


if __name__ == "__main__":
    main()
