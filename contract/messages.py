"""Messages around the hot path: handshake, liveness, errors."""

from __future__ import annotations

from dataclasses import dataclass

from contract.server_info import ServerInfo


@dataclass(frozen=True, slots=True)
class Hello:
    """First message of a client. `instance` is drawn at random by each client process (16 hex digits)."""

    session: str
    instance: str
    contract_hash: str
    client: str


@dataclass(frozen=True, slots=True)
class Welcome:
    """The server accepts the session."""

    info: ServerInfo


@dataclass(frozen=True, slots=True)
class Ping:
    """Client's heartbeat; answered at once, never behind the GPU."""

    session: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Pong:
    """Answer to a ping, with the server's state."""

    sequence: int
    state: str


@dataclass(frozen=True, slots=True)
class Probe:
    """The server asks the holder of a session name whether it is alive, because another client wants that name."""

    session: str


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """The holder of the session is alive."""

    session: str
    instance: str


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """A refused request; the fields of `contract.errors.to_wire`."""

    code: str
    what: str
    expected: str
    got: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Goodbye:
    """A client leaves; its session name is free."""

    session: str
