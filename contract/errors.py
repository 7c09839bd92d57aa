"""The error tree. Every message says what was expected, what came, and what to do next.

An error that crosses the wire keeps its `code`, so a client in any language can switch on it.
"""

from __future__ import annotations

from typing import ClassVar


class StackError(Exception):
    """Base of every error this product raises on purpose."""

    code: ClassVar[str] = "stack"

    def __init__(self, what: str, *, expected: object = None, got: object = None, remedy: str = "") -> None:
        self.what = what
        self.expected = "" if expected is None else str(expected)
        self.got = "" if got is None else str(got)
        self.remedy = remedy
        super().__init__(self._line())

    def _line(self) -> str:
        facts = [f"{name} {text}" for name, text in (("expected", self.expected), ("got", self.got)) if text]
        line = f"{self.what}: {', '.join(facts)}" if facts else self.what
        return f"{line} ({self.remedy})" if self.remedy else line


class FieldError(StackError):
    """A field of a message, file or argument is not what the contract says."""

    code = "field"


class CodecError(FieldError):
    """Bytes that are no message of this protocol."""

    code = "codec"


class VersionError(StackError):
    """The two sides speak another protocol or contract."""

    code = "version"


class SessionError(StackError):
    """A session name is taken, unknown or stale."""

    code = "session"


class VocabularyError(FieldError):
    """An instruction has words the policy does not know."""

    code = "vocabulary"


class BundleError(StackError):
    """A policy bundle is incomplete, altered or inconsistent."""

    code = "bundle"


class EngineError(StackError):
    """The engine failed, or gave something that is no answer."""

    code = "engine"


class BusyError(StackError):
    """The server is loading, at fault, or may not serve this now."""

    code = "busy"


class ActionError(StackError):
    """Action rows that must not reach an arm."""

    code = "action"


class StationError(StackError):
    """A station file is missing, incomplete or contradictory."""

    code = "station"


class ConfigurationError(StackError):
    """A setting given by a person is out of its range."""

    code = "configuration"


class RigError(StackError):
    """Arms, cameras or the twin are missing or failed."""

    code = "rig"


class EpisodeError(StackError):
    """A recorded episode is missing, damaged or not what it is asked for."""

    code = "episode"


class LinkError(StackError):
    """The policy server cannot be reached or broke off."""

    code = "link"


class LinkTimeoutError(LinkError):
    """The server is connected or was, but said nothing in time."""

    code = "link_timeout"


def _tree(root: type[StackError]) -> list[type[StackError]]:
    return [root, *(sub for child in root.__subclasses__() for sub in _tree(child))]


def to_wire(error: StackError) -> dict[str, str]:
    """Header fields of an error reply."""
    texts = {"what": error.what, "expected": error.expected, "got": error.got, "remedy": error.remedy}
    return {"code": error.code, **{name: _sendable(text) for name, text in texts.items()}}


def _sendable(text: str) -> str:
    """Valid text of bounded length, so that no error is too odd to be reported (file names may hold surrogates)."""
    return text[:2000].encode("utf-8", "replace").decode()


def from_wire(code: str, what: str, expected: str, got: str, remedy: str) -> StackError:
    """The error a peer sent; an unknown code (a newer peer) becomes a plain `StackError`."""
    kinds = {kind.code: kind for kind in _tree(StackError)}
    return kinds.get(code, StackError)(what, expected=expected or None, got=got or None, remedy=remedy)
