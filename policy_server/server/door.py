"""The bound socket of a server, and who guards it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import zmq
from zmq.auth.thread import ThreadAuthenticator

from contract.errors import StackError
from policy_server.server import router
from policy_server.server.bind import bind_endpoint
from policy_server.server.keys import secure
from policy_server.server.settings import ServeSettings

_LAST_WORDS_MS: Final = 100
"""What was answered just before the end still goes out."""


@dataclass(frozen=True, slots=True, eq=False)
class Door:
    """One ROUTER socket, and the authenticator where only clients with keys come in."""

    socket: zmq.Socket
    guard: ThreadAuthenticator | None

    def close(self) -> None:
        """Let nobody in any more."""
        context = self.socket.context
        self.socket.close(_LAST_WORDS_MS)
        if self.guard is not None:
            self.guard.stop()
        context.destroy(_LAST_WORDS_MS)


def open_door(settings: ServeSettings) -> Door:
    """Bound, and guarded where there are keys. Raises `ConfigurationError` for an address or keys of no use."""
    endpoint = bind_endpoint(settings.bind, settings.keys is not None, settings.insecure)
    door = Door(router.router_socket(zmq.Context()), None)
    try:
        if settings.keys is not None:
            door = Door(door.socket, secure(door.socket, settings.keys))
        router.bind(door.socket, endpoint)
    except StackError:
        door.close()
        raise
    return door
