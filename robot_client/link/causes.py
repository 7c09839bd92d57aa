"""Why there is no session with the server, in words a person can act on (case B01)."""

from __future__ import annotations

from typing import Final, Literal

from contract.errors import LinkError, LinkTimeoutError

Cause = Literal["none", "refused", "connected", "shaken", "unwelcome", "lost", "busy"]
"""No connection yet; nothing listens; TCP is up; the ZeroMQ handshake is done; it failed; the connection ended; the
policy is loading."""

_WORDS: Final[dict[Cause, str]] = {
    "none": "no connection: the host does not answer",
    "refused": "refused: nothing listens there",
    "connected": "connected but silent: what listens there is no policy server, or it hangs",
    "shaken": "connected but silent: the server does not answer the hello",
    "unwelcome": "connected, but the ZeroMQ handshake failed: keys do not fit",
    "lost": "the connection was lost",
    "busy": "connected, but the server is still loading its policy",
}
_REMEDIES: Final[dict[Cause, str]] = {
    "none": "check address, cable and firewall",
    "refused": "start one with `yam-policy serve`, or correct the address",
    "unwelcome": "give the folder of keys that was made for this client",
    "busy": "wait, or allow more time",
}
_CONNECTED: Final = ("connected", "shaken", "busy")


def no_session(address: str, budget_ms: float, cause: Cause) -> LinkError:
    """`LinkTimeoutError` when a server is connected but said nothing in time, else `LinkError`."""
    kind = LinkTimeoutError if cause in _CONNECTED else LinkError
    return kind(
        f"policy server at {address}",
        expected=f"a welcome within {budget_ms:g} ms",
        got=_WORDS[cause],
        remedy=_REMEDIES.get(cause, "look at the server's log"),
    )
