"""A websocket server that speaks openpi's protocol: metadata at the start, then one packed dict for another.

Run by path with the interpreter of an environment that has openpi-client: `python openpi_server.py POLICY_MS`. Written
from the public client alone; packing and unpacking are openpi-client's own. The policy is a sleep. Prints READY and its
port, and ends with its standard input.
"""

import asyncio
import sys
import time

import numpy as np
from openpi_client import msgpack_numpy
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed


async def answer(socket: ServerConnection, policy_s: float) -> None:
    """One client until it leaves."""
    packer = msgpack_numpy.Packer()
    await socket.send(packer.pack({"server": "comparison"}))
    try:
        while True:
            question = msgpack_numpy.unpackb(await socket.recv())
            time.sleep(policy_s)  # as a policy on this thread would
            rows = np.repeat(question["state"][np.newaxis], 16, axis=0)
            await socket.send(packer.pack({"actions": rows, "server_timing": {"infer_ms": 1e3 * policy_s}}))
    except ConnectionClosed:
        return


async def main() -> None:
    """Serve one loopback port until standard input ends."""
    policy_s = float(sys.argv[1]) / 1e3

    async def handler(socket: ServerConnection) -> None:
        await answer(socket, policy_s)

    async with serve(handler, "127.0.0.1", 0, compression=None, max_size=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        print(f"READY {port}", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
