"""`python -m policy_server.bench.echo_server`: a bare ROUTER that reads no header, checks nothing and copies nothing.

Its reply to everything is the frames after `SET_REPLY` in the last message that began with that.
"""

from __future__ import annotations

import sys
from typing import Final

import zmq

SET_REPLY: Final = b"set reply"


def main() -> None:
    """Serve until standard input ends."""
    socket: zmq.Socket = zmq.Context().socket(zmq.ROUTER)
    socket.bind("tcp://127.0.0.1:*")
    print("READY", socket.get_string(zmq.LAST_ENDPOINT).rstrip("\0"), flush=True)
    poller = zmq.Poller()
    poller.register(socket, zmq.POLLIN)
    poller.register(sys.stdin.fileno(), zmq.POLLIN)
    reply: list[bytes] = []
    while sys.stdin.fileno() not in dict(poller.poll()):
        peer, *frames = socket.recv_multipart(copy=False)
        if frames[0].bytes == SET_REPLY:
            reply = [frame.bytes for frame in frames[1:]]
        socket.send_multipart([peer, *reply], copy=False)


if __name__ == "__main__":
    main()
